import type { QueueItem, QueuePage, QueueQuery } from '@roost/contracts/operations/operator-queue'
import type { AgentAccess } from '../../agents/access/index.ts'
import type { AgentRecords } from '../../agents/records/index.ts'
import type { SignedIn } from '../../identity/access/caller.ts'
import type { Clock } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import type { Db } from '../../ports/database/port.ts'
import { actsForPerson, seesEverything, seesItemsOf, viewItem } from './rules.ts'
import { type ItemRow, operatorQueueStore, type Scope } from './store.ts'

export type ViewDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  agentAccess: Pick<AgentAccess, 'accessibleAgents'>
  agentRecords: Pick<AgentRecords, 'byId' | 'byName'>
}

export type View = {
  scopeOf(caller: SignedIn): Promise<Scope>
  /** The scope without items that are only addressed to the caller. */
  ownScopeOf(caller: SignedIn): Promise<Scope>
  /** Null for an item outside the caller's scope. */
  visible(caller: SignedIn, id: string): Promise<ItemRow | null>
  /** Throws `not_found` for an item outside the caller's scope. */
  find(caller: SignedIn, id: string): Promise<ItemRow>
  /** Like `find`, but throws `role_required` for addressees: they may answer the item, not cancel it. */
  findOwn(caller: SignedIn, id: string): Promise<ItemRow>
  viewOf(row: ItemRow): Promise<QueueItem>
  item(caller: SignedIn, id: string): Promise<QueueItem>
  /** Empty for an unknown agent. */
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

/** The queue as a caller may see it. */
export function createView({ db, clock, agentAccess, agentRecords }: ViewDeps): View {
  const store = operatorQueueStore(db)

  async function scopeOf(caller: SignedIn): Promise<Scope> {
    if (seesEverything(caller)) return { all: true }
    const accessible = await agentAccess.accessibleAgents(caller)
    const agentIds = accessible
      .filter(({ relation }) => seesItemsOf(caller, relation))
      .map(({ agent }) => agent.id)
    const { email } = caller.user
    // The caller of an agent key has its owner's address, but not the items addressed to the owner.
    const addressed =
      email !== null && actsForPerson(caller)
        ? { agentIds: accessible.map(({ agent }) => agent.id), email: email.toLowerCase() }
        : null
    return { all: false, agentIds, addressed }
  }

  async function viewOf(row: ItemRow): Promise<QueueItem> {
    const agent = row.agent_id === null ? null : await agentRecords.byId(row.agent_id)
    return viewItem(row, agent?.name ?? null, clock.now())
  }

  const visible = async (caller: SignedIn, id: string) => store.visible(await scopeOf(caller), id)

  async function find(caller: SignedIn, id: string): Promise<ItemRow> {
    const row = await visible(caller, id)
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
    visible,
    find,
    async findOwn(caller, id) {
      const row = await find(caller, id)
      const scope = await ownScopeOf(caller)
      if (scope.all || (row.agent_id !== null && scope.agentIds.includes(row.agent_id))) return row
      throw new Fault('role_required')
    },
    viewOf,
    item: async (caller, id) => viewOf(await find(caller, id)),

    async list(caller, { agent_name, limit, offset, order, ...filter }) {
      const agent = agent_name === undefined ? undefined : await agentRecords.byName(agent_name)
      if (agent === null) return { items: [], total: 0, has_more: false, next_offset: null }
      const scope = await scopeOf(caller)
      const search = { ...filter, agentId: agent?.id }
      const [rows, total] = await Promise.all([
        store.list(scope, search, { limit, offset, order }),
        store.count(scope, search),
      ])
      const next = offset + rows.length
      const has_more = next < total
      return {
        items: await Promise.all(rows.map(viewOf)),
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
        // Only pending items count below.
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
