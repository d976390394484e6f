import type { AgentPermissions } from '@roost/contracts/agents/permissions'
import type { Outbox } from '../../foundation/outbox/index.ts'
import type { Relation, SignedIn } from '../../identity/access/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import { type AgentAccess, relationOf } from '../access/index.ts'
import { type Agent, type AgentRecords, agentStore } from '../records/index.ts'
import type { Edges } from './edges.ts'
import { edgeChange, rowFor } from './rules.ts'
import { permissionStore } from './store.ts'

export type PermissionsDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  events: Pick<Outbox, 'append'>
  agentRecords: Pick<AgentRecords, 'all' | 'byName'>
  agentAccess: Pick<AgentAccess, 'accessibleAgents'>
  edges: Pick<Edges, 'targetsOf' | 'changed'>
}

/** A caller who changes the row of the agent `source`. */
export type Grantor = { caller: SignedIn; source: Agent }

export type Permissions = {
  /** The row of one agent as this viewer may see it. */
  row(source: Agent, viewer: { caller: SignedIn; relation: Relation }): Promise<AgentPermissions>
  /**
   * Replaces the set and returns its new size. Throws `agent_not_found` for an unknown name or a new one that
   * the grantor cannot access, and `validation_error` for the source itself.
   */
  replace(grantor: Grantor, names: readonly string[]): Promise<number>
  /** Both return the target's name, throw as `replace` does, and change nothing if already done. */
  grant(grantor: Grantor, target: string): Promise<string>
  withdraw(grantor: Grantor, target: string): Promise<string>
  /**
   * Lets a new agent call what another one may call, as far as the grantor can access it. Returns the names of the
   * others.
   */
  inherit(tx: Tx, grantor: Grantor, toId: string): Promise<string[]>
  /** All edges between agents that the caller can access, by name. */
  edges(caller: SignedIn): Promise<{ source: string; target: string }[]>
}

const none: ReadonlySet<string> = new Set()

export function createPermissions(deps: PermissionsDeps): Permissions {
  const { db, clock, events, agentRecords, agentAccess, edges } = deps

  /** Ids of the named agents that the source may already call or the grantor can access. */
  async function targets(
    { caller, source }: Grantor,
    names: readonly string[],
    locationOf: LocationOf,
  ): Promise<string[]> {
    const permitted = await edges.targetsOf(source.id)
    const ids: string[] = []
    for (const [index, name] of names.entries()) {
      if (name === source.name) throw selfTarget(locationOf(index))
      const target = await agentRecords.byName(name)
      const isAllowed = target && (permitted.has(target.id) || relationOf(caller, target, none))
      if (!isAllowed) throw notFound(name)
      ids.push(target.id)
    }
    return ids
  }

  /**
   * Adds and removes edges of the source and appends one event if any changed. Locks the named agents, so
   * that a share removed at the same time also removes its edges.
   */
  async function change(
    { caller, source }: Grantor,
    named: readonly string[],
    decide: (before: ReadonlySet<string>) => { added: string[]; removed: string[] },
  ): Promise<void> {
    await db.atomically(async (tx) => {
      // A fixed order prevents deadlocks between two agents that grant each other.
      for (const id of new Set([source.id, ...named].sort())) {
        if (!(await agentStore(tx).lock(id))) throw new Fault('agent_not_found')
      }
      const store = permissionStore(tx)
      const { added, removed } = decide(new Set(await store.targetsOf(source.id)))
      for (const id of added) await add(tx, caller, source.id, id)
      for (const id of removed) await store.remove(source.id, id)
      if (added.length + removed.length === 0) return
      const event = { type: 'agent.settings_changed', agent_names: [source.name], agent_ids: [source.id] }
      await events.append(tx, { ...event, fields: { setting: 'permissions' } }, clock.now())
      edges.changed(tx, source.id)
    })
  }

  async function add(tx: Tx, caller: SignedIn, sourceId: string, targetId: string): Promise<void> {
    const target = await agentStore(tx).byId(targetId)
    if (!target || !relationOf(caller, target, none)) throw new Fault('agent_not_found')
    const edge = { source_id: sourceId, target_id: targetId, granted_by_id: caller.user.id }
    await permissionStore(tx).add({ ...edge, created_at: timestamp(clock.now()) })
  }

  return {
    async row(source, { caller, relation }) {
      const accessible = await agentAccess.accessibleAgents(caller)
      return rowFor(source, {
        all: await agentRecords.all(),
        permitted: await edges.targetsOf(source.id),
        reachable: new Set(accessible.map(({ agent }) => agent.id)),
        seesAll: relation === 'owner' || relation === 'admin' || relation === 'self',
      })
    },

    async replace(grantor, names) {
      const ids = await targets(grantor, names, (index) => ['body', 'permitted_agents', index])
      const desired = new Set(ids)
      await change(grantor, ids, (before) => edgeChange(before, desired))
      return desired.size
    },

    async grant(grantor, target) {
      const ids = await targets(grantor, [target], () => ['path', 'target'])
      await change(grantor, ids, (before) => ({ added: ids.filter((id) => !before.has(id)), removed: [] }))
      return target
    },

    async withdraw(grantor, target) {
      const ids = await targets(grantor, [target], () => ['path', 'target'])
      await change(grantor, ids, (before) => ({ added: [], removed: ids.filter((id) => before.has(id)) }))
      return target
    },

    async inherit(tx, { caller, source }, toId) {
      const refused: string[] = []
      for (const id of (await permissionStore(tx).targetsOf(source.id)).sort()) {
        const target = (await agentStore(tx).lock(id)) ? await agentStore(tx).byId(id) : null
        if (!target) continue
        if (relationOf(caller, target, none)) await add(tx, caller, toId, id)
        else refused.push(target.name)
      }
      edges.changed(tx, toId)
      return refused
    },

    async edges(caller) {
      const accessible = await agentAccess.accessibleAgents(caller)
      const names = new Map(accessible.map(({ agent }) => [agent.id, agent.name]))
      const visible = (await permissionStore(db).all()).flatMap(({ source_id, target_id }) => {
        const [source, target] = [names.get(source_id), names.get(target_id)]
        return source !== undefined && target !== undefined ? [{ source, target }] : []
      })
      return visible.sort((a, b) => compare(a.source, b.source) || compare(a.target, b.target))
    },
  }
}

/** Location in the request of the name at an index. */
type LocationOf = (index: number) => (string | number)[]

function selfTarget(loc: (string | number)[]): Fault {
  const issue = { loc, msg: 'is the agent itself, which it can always call', type: 'value_error' }
  return new Fault('validation_error', undefined, { issues: [issue] })
}

function notFound(name: string): Fault {
  return new Fault('agent_not_found', `There is no agent named "${name.slice(0, 80)}".`)
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
