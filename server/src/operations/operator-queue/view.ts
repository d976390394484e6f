import type { QueueItem, QueuePage, QueueQuery } from '@roost/contracts/operations/operator-queue'
import type { AgentAccess } from '../../agents/access/index.ts'
import type { AgentRecords } from '../../agents/records/index.ts'
import type { SignedIn } from '../../identity/access/caller.ts'
import type { Clock } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import type { Db } from '../../ports/database/port.ts'
import { actsForPerson, seesEverything, seesItemsOf, shownItem } from './rules.ts'
import { type ItemRow, operatorQueueStore, type Scope } from './store.ts'

export type ViewDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  agentAccess: Pick<AgentAccess, 'accessibleAgents'>
  agentRecords: Pick<AgentRecords, 'byId' | 'byName'>
}

export type View = {
  scopeOf(caller: SignedIn): Promise<Scope>
  /** Without the items that are merely addressed to the caller. */
  ownScopeOf(caller: SignedIn): Promise<Scope>
  /** Throws `not_found` for an item that the caller does not see. */
  find(caller: SignedIn, id: string): Promise<ItemRow>
  /** Whoever is merely asked answers; it is not theirs to end the item: `role_required` then. */
  findOwn(caller: SignedIn, id: string): Promise<ItemRow>
  shown(row: ItemRow): Promise<QueueItem>
  item(caller: SignedIn, id: string): Promise<QueueItem>
  /** An unknown agent has no items. */
  list(caller: SignedIn, query: QueueQuery): Promise<QueuePage>
  stats(caller: SignedIn): Promise<Stats>
}

export type Stats = {
  pending: number
  by_status: Record<string, number>
  by_type: Record<string, number>
  by_priority: Record<string, number>
  by_agent: Record<string, number>
  oldest_pending_seconds: number | null
}

/** What of the queue a caller sees. */
export function createView({ db, clock, agentAccess, agentRecords }: ViewDeps): View {
  const store = operatorQueueStore(db)

  async function scopeOf(caller: SignedIn): Promise<Scope> {
    if (seesEverything(caller)) return { all: true }
    const reached = await agentAccess.accessibleAgents(caller)
    const agentIds = reached
      .filter(({ relation }) => seesItemsOf(caller, relation))
      .map(({ agent }) => agent.id)
    const { email } = caller.user
    // An agent carries its owner's address, and is not asked what its owner is asked.
    const addressed =
      email !== null && actsForPerson(caller)
        ? { agentIds: reached.map(({ agent }) => agent.id), email: email.toLowerCase() }
        : null
    return { all: false, agentIds, addressed }
  }

  async function shown(row: ItemRow): Promise<QueueItem> {
    const agent = row.agent_id === null ? null : await agentRecords.byId(row.agent_id)
    return shownItem(row, agent?.name ?? null, clock.now())
  }

  async function find(caller: SignedIn, id: string): Promise<ItemRow> {
    const row = await store.visible(await scopeOf(caller), id)
    if (!row) throw new Fault('not_found', 'There is no such item.')
    return row
  }

  async function ownScopeOf(caller: SignedIn): Promise<Scope> {
    const scope = await scopeOf(caller)
    return scope.all ? scope : { ...scope, addressed: null }
  }

  return {
    scopeOf,
    ownScopeOf,
    find,
    async findOwn(caller, id) {
      const row = await find(caller, id)
      const scope = await ownScopeOf(caller)
      if (scope.all || (row.agent_id !== null && scope.agentIds.includes(row.agent_id))) return row
      throw new Fault('role_required')
    },
    shown,
    item: async (caller, id) => shown(await find(caller, id)),

    async list(caller, { agent_name, limit, offset, order, ...filter }) {
      const agent = agent_name === undefined ? undefined : await agentRecords.byName(agent_name)
      if (agent === null) return { items: [], total: 0, has_more: false, next_offset: null }
      const scope = await scopeOf(caller)
      const wanted = { ...filter, agentId: agent?.id }
      const [rows, total] = await Promise.all([
        store.list(scope, wanted, { limit, offset, order }),
        store.count(scope, wanted),
      ])
      const next = offset + rows.length
      const has_more = next < total
      return {
        items: await Promise.all(rows.map(shown)),
        total,
        has_more,
        next_offset: has_more ? next : null,
      }
    },

    async stats(caller) {
      const scope = await scopeOf(caller)
      const [figures, oldest] = await Promise.all([store.figures(scope), store.oldestPending(scope)])
      const stats: Stats = {
        pending: 0,
        by_status: {},
        by_type: {},
        by_priority: {},
        by_agent: {},
        oldest_pending_seconds:
          oldest === null ? null : Math.floor((clock.now().getTime() - new Date(oldest).getTime()) / 1000),
      }
      for (const { status, type, priority, agent_id, total } of figures) {
        add(stats.by_status, status, total)
        if (status !== 'pending') continue
        // What is open is what somebody has to do; the rest is history.
        stats.pending += total
        add(stats.by_type, type, total)
        add(stats.by_priority, priority, total)
        const agent = agent_id === null ? null : await agentRecords.byId(agent_id)
        if (agent) add(stats.by_agent, agent.name, total)
      }
      return stats
    },
  }
}

function add(counts: Record<string, number>, key: string, by: number): void {
  counts[key] = (counts[key] ?? 0) + by
}
