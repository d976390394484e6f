import type { ReminderStatus } from '@roost/contracts/triggers/reminders'
import type { Executor } from '../../ports/database/port.ts'

export type RemindersTable = {
  id: string
  agent_id: string
  message: string
  fire_at: string
  status: ReminderStatus
  model: string | null
  timeout_seconds: number | null
  /** JSON array. */
  allowed_tools: string | null
  /** The conversation in which it was set. */
  origin_session_id: string | null
  /** JSON `Source` of the run. */
  source: string
  /** Hash of message and time of a pending reminder without idempotency key; unique per agent. */
  derived_key: string | null
  execution_id: string | null
  fire_attempts: number
  /** `fire_at`, or later after failed attempts. */
  next_attempt_at: string
  error: string | null
  created_at: string
  fired_at: string | null
  cancelled_at: string | null
  /** While the result is undelivered: the end of the wait for a reply in progress. */
  deliver_until: string | null
}

type ReminderTables = { reminders: RemindersTable }

export type ReminderRow = RemindersTable

/** Every update names the expected status, so that of a concurrent fire and cancellation one wins. */
export function reminderStore(executor: Executor) {
  const db = executor.withTables<ReminderTables>()
  const all = () => db.selectFrom('reminders').selectAll()
  const over = (before: string) =>
    db
      .selectFrom('reminders')
      .where('status', 'in', ['fired', 'cancelled', 'failed'])
      .where('deliver_until', 'is', null)
      .where((e) => e(e.fn.coalesce('fired_at', 'cancelled_at', 'next_attempt_at'), '<', before))
  const pending = (id: string) =>
    db.updateTable('reminders').where('id', '=', id).where('status', '=', 'pending')

  return {
    async insert(row: ReminderRow): Promise<void> {
      await db.insertInto('reminders').values(row).execute()
    },

    async find(id: string): Promise<ReminderRow | null> {
      return (await all().where('id', '=', id).executeTakeFirst()) ?? null
    },

    /** The pending reminder with this derived key. */
    async derived(agentId: string, key: string): Promise<ReminderRow | null> {
      const row = await all()
        .where('agent_id', '=', agentId)
        .where('derived_key', '=', key)
        .executeTakeFirst()
      return row ?? null
    },

    async pendingOf(agentId: string): Promise<ReminderRow[]> {
      return all().where('agent_id', '=', agentId).where('status', '=', 'pending').execute()
    },

    async countPending(agentId: string): Promise<number> {
      const row = await db
        .selectFrom('reminders')
        .select((e) => e.fn.countAll<number>().as('total'))
        .where('agent_id', '=', agentId)
        .where('status', '=', 'pending')
        .executeTakeFirstOrThrow()
      return Number(row.total)
    },

    /** Creation time of the agent's `count`-th newest reminder; null if there are fewer. */
    async createdBefore(agentId: string, count: number): Promise<string | null> {
      const row = await db
        .selectFrom('reminders')
        .select('created_at')
        .where('agent_id', '=', agentId)
        .orderBy('created_at', 'desc')
        .offset(count - 1)
        .limit(1)
        .executeTakeFirst()
      return row?.created_at ?? null
    },

    /** Soonest first. */
    async list(agentId: string, status: ReminderStatus | null, limit: number): Promise<ReminderRow[]> {
      let query = all().where('agent_id', '=', agentId)
      if (status !== null) query = query.where('status', '=', status)
      return query.orderBy('fire_at').orderBy('id').limit(limit).execute()
    },

    /** Pending due reminders after the row `after`. */
    async due(
      now: string,
      limit: number,
      after: Pick<ReminderRow, 'next_attempt_at' | 'id'> | null,
    ): Promise<ReminderRow[]> {
      const last = { at: after?.next_attempt_at ?? '', id: after?.id ?? '' }
      return all()
        .where('status', '=', 'pending')
        .where('next_attempt_at', '<=', now)
        .where((e) =>
          e.or([
            e('next_attempt_at', '>', last.at),
            e.and([e('next_attempt_at', '=', last.at), e('id', '>', last.id)]),
          ]),
        )
        .orderBy('next_attempt_at')
        .orderBy('id')
        .limit(limit)
        .execute()
    },

    /** pending → fired, locked until the transaction ends; false if it is not pending. */
    async fire(id: string, at: string): Promise<boolean> {
      const result = await pending(id)
        .set((e) => ({
          status: 'fired' as const,
          fired_at: at,
          derived_key: null,
          error: null,
          fire_attempts: e('fire_attempts', '+', 1),
        }))
        .executeTakeFirst()
      return Number(result.numUpdatedRows) === 1
    },

    async firedAs(id: string, executionId: string): Promise<void> {
      await db.updateTable('reminders').set({ execution_id: executionId }).where('id', '=', id).execute()
    },

    /** Records a failed attempt: pending until `again`, or failed if that is null. */
    async attempted(
      { id, fire_attempts }: ReminderRow,
      { error, again }: { error: string; again: string | null },
    ): Promise<void> {
      await pending(id)
        .where('fire_attempts', '=', fire_attempts)
        .set({
          fire_attempts: fire_attempts + 1,
          error,
          ...(again === null ? { status: 'failed' as const, derived_key: null } : { next_attempt_at: again }),
        })
        .execute()
    },

    /** pending → cancelled; null if it is not pending. */
    async cancel(id: string, at: string, error: string | null = null): Promise<ReminderRow | null> {
      const row = await pending(id)
        .set({ status: 'cancelled', cancelled_at: at, derived_key: null, error })
        .returningAll()
        .executeTakeFirst()
      return row ?? null
    },

    /** Marks the result for delivery; false if the reminder was not set in a conversation. */
    async awaitDelivery(id: string, until: string): Promise<boolean> {
      const result = await db
        .updateTable('reminders')
        .set({ deliver_until: until })
        .where('id', '=', id)
        .where('origin_session_id', 'is not', null)
        .executeTakeFirst()
      return Number(result.numUpdatedRows) === 1
    },

    async undelivered(limit: number): Promise<string[]> {
      const rows = await db
        .selectFrom('reminders')
        .select('id')
        .where('deliver_until', 'is not', null)
        .orderBy('deliver_until')
        .limit(limit)
        .execute()
      return rows.map(({ id }) => id)
    },

    /** Locks an undelivered reminder until the transaction ends; null if it was delivered. */
    async holdUndelivered(id: string): Promise<ReminderRow | null> {
      const row = await db
        .updateTable('reminders')
        .set((e) => ({ deliver_until: e.ref('deliver_until') }))
        .where('id', '=', id)
        .where('deliver_until', 'is not', null)
        .returningAll()
        .executeTakeFirst()
      return row ?? null
    },

    async delivered(id: string): Promise<void> {
      await db.updateTable('reminders').set({ deliver_until: null }).where('id', '=', id).execute()
    },

    async countAll(): Promise<number> {
      const row = await db
        .selectFrom('reminders')
        .select((e) => e.fn.countAll<number>().as('total'))
        .executeTakeFirstOrThrow()
      return Number(row.total)
    },

    /** Counts reminders that ended before a time and have no pending delivery. */
    async countOver(before: string): Promise<number> {
      const row = await over(before)
        .select((e) => e.fn.countAll<number>().as('total'))
        .executeTakeFirstOrThrow()
      return Number(row.total)
    },

    /** Removes at most `limit` of those. */
    async removeOver(before: string, limit: number): Promise<number> {
      const result = await db
        .deleteFrom('reminders')
        .where('id', 'in', over(before).select('id').limit(limit))
        .executeTakeFirst()
      return Number(result.numDeletedRows)
    },

    async removeOfAgent(agentId: string): Promise<void> {
      await db.deleteFrom('reminders').where('agent_id', '=', agentId).execute()
    },
  }
}
