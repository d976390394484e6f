import {
  type AlertKind,
  type ItemPriority,
  type ItemStatus,
  type ItemType,
  type QueueOrder,
  resolved,
} from '@roost/contracts/operations/operator-queue'
import { sql } from 'kysely'
import type { Executor } from '../../ports/database/port.ts'
import type { OperatorItemsTable, OperatorQueueTables } from './tables.ts'

export type ItemRow = OperatorItemsTable
export type ItemPatch = Partial<Omit<ItemRow, 'id' | 'agent_id' | 'request_id' | 'created_at' | 'source'>>

/** Visible items: everything, or all items of some agents plus those of others addressed to one person. */
export type Scope =
  | { all: true }
  | {
      all: false
      agentIds: readonly string[]
      addressed: { agentIds: readonly string[]; email: string } | null
    }

export type ItemFilter = {
  status?: ItemStatus | typeof resolved | undefined
  type?: ItemType | undefined
  priority?: ItemPriority | undefined
  since?: string | undefined
  agentId?: string | undefined
  /** `platform` selects alerts. */
  source?: ItemRow['source'] | undefined
}

/** Resolved items are the least urgent. */
const urgency = sql<number>`case when status <> 'pending' then 4
  when priority = 'critical' then 0 when priority = 'high' then 1 when priority = 'medium' then 2 else 3 end`
/** Equal for all resolved items, which come after pending ones. */
const waitingSince = sql<string>`case when status = 'pending' then created_at else '' end`

/** The only SQL about the operator queue. */
export function operatorQueueStore(executor: Executor) {
  const db = executor.withTables<OperatorQueueTables>()

  const visibleIn = (scope: Scope) => {
    const items = db.selectFrom('operator_items')
    if (scope.all) return items
    const { agentIds, addressed } = scope
    return items.where((e) =>
      e.or([
        // SQL has no empty list.
        agentIds.length > 0 ? e('agent_id', 'in', [...agentIds]) : sql<boolean>`1 = 0`,
        addressed && addressed.agentIds.length > 0
          ? e.and([
              e('agent_id', 'in', [...addressed.agentIds]),
              e('addressed_to_email', '=', addressed.email),
            ])
          : sql<boolean>`1 = 0`,
      ]),
    )
  }
  const matching = (scope: Scope, filter: ItemFilter) => {
    let query = visibleIn(scope).where('cleared_at', 'is', null)
    if (filter.status === resolved) query = query.where('status', '<>', 'pending')
    else if (filter.status) query = query.where('status', '=', filter.status)
    if (filter.type) query = query.where('type', '=', filter.type)
    if (filter.priority) query = query.where('priority', '=', filter.priority)
    if (filter.since) query = query.where('created_at', '>=', filter.since)
    if (filter.agentId) query = query.where('agent_id', '=', filter.agentId)
    if (filter.source) query = query.where('source', '=', filter.source)
    return query
  }

  return {
    /** False when the agent used this request id before, or such an alert is pending. */
    async insert(row: ItemRow): Promise<boolean> {
      const result = await db
        .insertInto('operator_items')
        .values(row)
        .onConflict((c) => c.doNothing())
        .executeTakeFirst()
      return Number(result.numInsertedOrUpdatedRows ?? 0) === 1
    },

    async byId(id: string): Promise<ItemRow | null> {
      const row = await db.selectFrom('operator_items').selectAll().where('id', '=', id).executeTakeFirst()
      return row ?? null
    },

    /** Null when the item does not exist or is outside the scope. */
    async visible(scope: Scope, id: string): Promise<ItemRow | null> {
      const row = await visibleIn(scope).selectAll().where('id', '=', id).executeTakeFirst()
      return row ?? null
    },

    async byRequest(agentId: string, requestId: string): Promise<ItemRow | null> {
      const row = await db
        .selectFrom('operator_items')
        .selectAll()
        .where('agent_id', '=', agentId)
        .where('request_id', '=', requestId)
        .executeTakeFirst()
      return row ?? null
    },

    async byRequests(agentId: string, requestIds: readonly string[]): Promise<ItemRow[]> {
      if (requestIds.length === 0) return []
      return db
        .selectFrom('operator_items')
        .selectAll()
        .where('agent_id', '=', agentId)
        .where('request_id', 'in', [...requestIds])
        .execute()
    },

    async list(
      scope: Scope,
      filter: ItemFilter,
      page: { limit: number; offset: number; order: QueueOrder },
    ): Promise<ItemRow[]> {
      const all = matching(scope, filter).selectAll()
      return (page.order === 'urgent' ? all.orderBy(urgency).orderBy(waitingSince) : all)
        .orderBy('created_at', 'desc')
        .orderBy('id')
        .limit(page.limit)
        .offset(page.offset)
        .execute()
    },

    async count(scope: Scope, filter: ItemFilter): Promise<number> {
      const row = await matching(scope, filter)
        .select((e) => e.fn.countAll<number>().as('total'))
        .executeTakeFirstOrThrow()
      return Number(row.total)
    },

    async figures(scope: Scope) {
      const rows = await matching(scope, {})
        .select(['status', 'type', 'priority', 'agent_id'])
        .select((e) => e.fn.countAll<number>().as('total'))
        .groupBy(['status', 'type', 'priority', 'agent_id'])
        .execute()
      return rows.map((row) => ({ ...row, total: Number(row.total) }))
    },

    async oldestPending(scope: Scope): Promise<string | null> {
      const row = await matching(scope, { status: 'pending' })
        .select((e) => e.fn.min('created_at').as('oldest'))
        .executeTakeFirst()
      return row?.oldest ?? null
    },

    async countPendingAsks(agentId: string): Promise<number> {
      const row = await db
        .selectFrom('operator_items')
        .select((e) => e.fn.countAll<number>().as('total'))
        .where('agent_id', '=', agentId)
        .where('status', '=', 'pending')
        .where('request_id', 'is not', null)
        .executeTakeFirstOrThrow()
      return Number(row.total)
    },

    /** True for the one caller that changed the status from `from`. With `asOf`, only if not expired at that time. */
    async move(id: string, from: ItemStatus, patch: ItemPatch, asOf?: string): Promise<boolean> {
      let query = db.updateTable('operator_items').set(patch).where('id', '=', id).where('status', '=', from)
      if (asOf !== undefined) {
        query = query.where((e) => e.or([e('expires_at', 'is', null), e('expires_at', '>', asOf)]))
      }
      const result = await query.executeTakeFirst()
      return Number(result.numUpdatedRows) === 1
    },

    async noteEntry(id: string, entryNow: string | null): Promise<void> {
      await db
        .updateTable('operator_items')
        .set({ entry_now: entryNow })
        .where('id', '=', id)
        .where('status', '=', 'pending')
        .execute()
    },

    async due(now: string, limit: number): Promise<ItemRow[]> {
      return db
        .selectFrom('operator_items')
        .selectAll()
        .where('status', '=', 'pending')
        .where('expires_at', '<=', now)
        .orderBy('expires_at')
        .limit(limit)
        .execute()
    },

    /** Due answers after this one, oldest first. */
    async toResume(after: { responded_at: string; id: string }, limit: number): Promise<ItemRow[]> {
      return db
        .selectFrom('operator_items')
        .selectAll()
        .where('resume', '=', 'due')
        .where('responded_at', '>=', after.responded_at)
        .where((e) =>
          e.or([
            e('responded_at', '>', after.responded_at),
            e.and([e('responded_at', '=', after.responded_at), e('id', '>', after.id)]),
          ]),
        )
        .orderBy('responded_at')
        .orderBy('id')
        .limit(limit)
        .execute()
    },

    /** True for the one caller that may start the run of this answer. */
    async claimResume(id: string): Promise<boolean> {
      const result = await db
        .updateTable('operator_items')
        .set({ resume: 'started' })
        .where('id', '=', id)
        .where('resume', '=', 'due')
        .executeTakeFirst()
      return Number(result.numUpdatedRows) === 1
    },

    async noteRun(id: string, executionId: string): Promise<void> {
      await db.updateTable('operator_items').set({ execution_id: executionId }).where('id', '=', id).execute()
    },

    async startedBy(executionId: string): Promise<ItemRow | null> {
      const row = await db
        .selectFrom('operator_items')
        .selectAll()
        .where('execution_id', '=', executionId)
        .where('resume', '=', 'started')
        .executeTakeFirst()
      return row ?? null
    },

    async pendingAlert(pendingKey: string): Promise<ItemRow | null> {
      const row = await db
        .selectFrom('operator_items')
        .selectAll()
        .where('pending_key', '=', pendingKey)
        .executeTakeFirst()
      return row ?? null
    },

    async pendingOfKind(kind: AlertKind): Promise<ItemRow[]> {
      return db
        .selectFrom('operator_items')
        .selectAll()
        .where('status', '=', 'pending')
        .where('kind', '=', kind)
        .execute()
    },

    /** Items of the kind that are pending, or were created at `since` or later. */
    raisedSince(kind: AlertKind, since: string): Promise<Pick<ItemRow, 'agent_id' | 'status'>[]> {
      return db
        .selectFrom('operator_items')
        .select(['agent_id', 'status'])
        .where('kind', '=', kind)
        .where((e) => e.or([e('status', '=', 'pending'), e('created_at', '>=', since)]))
        .execute()
    },

    async refreshAlert(
      pendingKey: string,
      patch: Pick<ItemRow, 'title' | 'question' | 'priority' | 'context' | 'execution_id'>,
    ): Promise<void> {
      await db.updateTable('operator_items').set(patch).where('pending_key', '=', pendingKey).execute()
    },

    async clearResolved(scope: Scope, agentId: string | undefined, at: string): Promise<number> {
      const resolved = matching(scope, { agentId }).where('status', '!=', 'pending').select('id')
      const result = await db
        .updateTable('operator_items')
        .set({ cleared_at: at })
        .where('id', 'in', resolved)
        .executeTakeFirst()
      return Number(result.numUpdatedRows)
    },

    async countAll(): Promise<number> {
      const row = await db
        .selectFrom('operator_items')
        .select((e) => e.fn.countAll<number>().as('total'))
        .executeTakeFirstOrThrow()
      return Number(row.total)
    },

    async countResolved(before: string): Promise<number> {
      const row = await db
        .selectFrom('operator_items')
        .select((e) => e.fn.countAll<number>().as('total'))
        .where('status', '!=', 'pending')
        .where('created_at', '<', before)
        .executeTakeFirstOrThrow()
      return Number(row.total)
    },

    async removeResolved(before: string, limit: number): Promise<number> {
      const oldest = db
        .selectFrom('operator_items')
        .select('id')
        .where('status', '!=', 'pending')
        .where('created_at', '<', before)
        .limit(limit)
      const result = await db.deleteFrom('operator_items').where('id', 'in', oldest).executeTakeFirst()
      return Number(result.numDeletedRows)
    },

    async removeOfAgent(agentId: string): Promise<void> {
      await db.deleteFrom('operator_items').where('agent_id', '=', agentId).execute()
    },

    async asksOf(
      email: string,
      agentIds: readonly string[],
      { limit }: { limit: number },
    ): Promise<ItemRow[]> {
      if (agentIds.length === 0) return []
      return db
        .selectFrom('operator_items')
        .selectAll()
        .where('addressed_to_email', '=', email)
        .where('agent_id', 'in', [...agentIds])
        .orderBy('created_at', 'desc')
        .limit(limit)
        .execute()
    },
  }
}

export function alertKey(agentId: string | null, kind: AlertKind, executionId?: string): string {
  return [agentId ?? '', kind, ...(executionId === undefined ? [] : [executionId])].join(':')
}
