import type { IdentityChanges } from '../../identity/access/index.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import { permissionStore } from './store.ts'

/**
 * The permission edges, always read from the database: a withdrawal takes effect at the next call in every
 * process.
 */
export type Edges = {
  /** Ids of the agents that this agent may call, except itself. */
  targetsOf(agentId: string): Promise<ReadonlySet<string>>
  /** Ids of the agents that may call this one, except itself. */
  sourcesOf(agentId: string): Promise<string[]>
  /** Withdraws the target from all agents of an owner who may no longer use it. */
  withdrawFromOwner(tx: Tx, targetId: string, ownerId: string): Promise<void>
  /** Invalidates caches of what this agent may call, after the commit. */
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
