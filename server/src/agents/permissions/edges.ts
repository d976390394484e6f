import type { IdentityChanges } from '../../identity/access/index.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import { permissionStore } from './store.ts'

/** Who may call whom, read from the database each time: a withdrawal counts from the next call in every process. */
export type Edges = {
  /** Ids of the agents that this agent may call, itself apart. */
  targetsOf(agentId: string): Promise<ReadonlySet<string>>
  /** Ids of the agents that may call this one, itself apart. */
  sourcesOf(agentId: string): Promise<string[]>
  /** Takes the agent away from all agents of a person who may not use it any more. */
  withdrawFromOwner(tx: Tx, targetId: string, ownerId: string): Promise<void>
  /** Tells those who remember what this agent may call, after the commit. */
  changed(tx: Pick<Tx, 'onCommitted'>, sourceId: string): void
}

export function createEdges(deps: { db: Db; changes: Pick<IdentityChanges, 'announce'> }): Edges {
  const { db, changes } = deps
  const store = permissionStore(db)

  function changed(tx: Pick<Tx, 'onCommitted'>, sourceId: string): void {
    tx.onCommitted(() => changes.announce({ agent_id: sourceId }))
  }

  return {
    targetsOf: async (agentId) => new Set(await store.targetsOf(agentId)),
    sourcesOf: (agentId) => store.sourcesOf(agentId),
    async withdrawFromOwner(tx, targetId, ownerId) {
      const sources = await permissionStore(tx).removeOfOwner(targetId, ownerId)
      for (const sourceId of sources) changed(tx, sourceId)
    },
    changed,
  }
}
