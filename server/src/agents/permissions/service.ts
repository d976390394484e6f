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

/** Who changes the row of which agent. */
export type Grantor = { caller: SignedIn; source: Agent }

export type Permissions = {
  /** The row of one agent, as somebody sees it who stands to the agent as `relation` says. */
  row(source: Agent, viewer: { caller: SignedIn; relation: Relation }): Promise<AgentPermissions>
  /**
   * Replaces the set; answers how many there are now. Throws `agent_not_found` for a name that is unknown or
   * new and out of the grantor's reach, and `validation_error` for the source itself.
   */
  replace(grantor: Grantor, names: readonly string[]): Promise<number>
  /** The two answer the target's name; throw as `replace` does. What is so already is left as it is. */
  grant(grantor: Grantor, target: string): Promise<string>
  withdraw(grantor: Grantor, target: string): Promise<string>
  /** All edges between agents that the caller can reach, by name. */
  edges(caller: SignedIn): Promise<{ source: string; target: string }[]>
}

const none: ReadonlySet<string> = new Set()

export function createPermissions(deps: PermissionsDeps): Permissions {
  const { db, clock, events, agentRecords, agentAccess, edges } = deps

  /** Ids of the named agents: those that the source may call already, and those that the grantor reaches. */
  async function targets(
    { caller, source }: Grantor,
    names: readonly string[],
    loc: Place,
  ): Promise<string[]> {
    const permitted = await edges.targetsOf(source.id)
    const ids: string[] = []
    for (const [index, name] of names.entries()) {
      if (name === source.name) throw itself(loc(index))
      const target = await agentRecords.byName(name)
      const isKnown = target && (permitted.has(target.id) || relationOf(caller, target, none))
      if (!isKnown) throw notFound(name)
      ids.push(target.id)
    }
    return ids
  }

  /**
   * Adds and removes edges of the source, and tells of it once when any was. The named agents are locked: a
   * share of one that goes at this moment takes its edges along.
   */
  async function change(
    { caller, source }: Grantor,
    named: readonly string[],
    decide: (before: ReadonlySet<string>) => { added: string[]; removed: string[] },
  ): Promise<void> {
    await db.atomically(async (tx) => {
      // In one order, so that two who grant each other do not wait for each other.
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
      const reached = await agentAccess.accessibleAgents(caller)
      return rowFor(source, {
        all: await agentRecords.all(),
        permitted: await edges.targetsOf(source.id),
        reachable: new Set(reached.map(({ agent }) => agent.id)),
        seesAll: relation === 'owner' || relation === 'admin' || relation === 'self',
      })
    },

    async replace(grantor, names) {
      const ids = await targets(grantor, names, (index) => ['body', 'permitted_agents', index])
      const wanted = new Set(ids)
      await change(grantor, ids, (before) => edgeChange(before, wanted))
      return wanted.size
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

    async edges(caller) {
      const reached = await agentAccess.accessibleAgents(caller)
      const names = new Map(reached.map(({ agent }) => [agent.id, agent.name]))
      const seen = (await permissionStore(db).all()).flatMap(({ source_id, target_id }) => {
        const [source, target] = [names.get(source_id), names.get(target_id)]
        return source !== undefined && target !== undefined ? [{ source, target }] : []
      })
      return seen.sort((a, b) => compare(a.source, b.source) || compare(a.target, b.target))
    },
  }
}

/** Where in the request the name at an index stands. */
type Place = (index: number) => (string | number)[]

function itself(loc: (string | number)[]): Fault {
  const issue = { loc, msg: 'is the agent itself, which it always reaches', type: 'value_error' }
  return new Fault('validation_error', undefined, { issues: [issue] })
}

function notFound(name: string): Fault {
  return new Fault('agent_not_found', `There is no agent named "${name.slice(0, 80)}".`)
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
