import { sql } from 'kysely'
import type { Executor } from '../../ports/database/port.ts'
import type { SchedulesTable, ScheduleTables } from './tables.ts'

export type Schedule = SchedulesTable
/** The columns that a change may set; `update` also sets the position. */
export type SchedulePatch = Partial<
  Omit<Schedule, 'id' | 'number' | 'agent_id' | 'position' | 'webhook_token_hash'>
>

/** All columns of a schedule without those of its webhook. */
export const scheduleColumns = [
  'id',
  'number',
  'agent_id',
  'name',
  'description',
  'cron_expression',
  'message',
  'enabled',
  'is_paused',
  'timezone',
  'misfire_policy',
  'timeout_seconds',
  'allowed_tools',
  'model',
  'deliver_to_workspace_email',
  'max_retries',
  'retry_delay_seconds',
  'validation_enabled',
  'validation_prompt',
  'validation_timeout_seconds',
  'undo_failed',
  'created_by',
  'created_by_id',
  'principal',
  'validation_principal',
  'disabled_reason',
  'created_at',
  'updated_at',
  'armed_at',
  'deleted_at',
  'position',
  'webhook_token_hash',
] as const satisfies (keyof Schedule)[]

/** The columns of a schedule without a webhook. */
const noWebhook = {
  webhook_token_hash: null,
  webhook_token_sealed: null,
  webhook_secret_sealed: null,
  webhook_signs_time: 0,
  webhook_created_at: null,
  webhook_last_called_at: null,
}

/** Writes need a transaction. Each takes the next position first, which serializes them. */
export function scheduleStore(executor: Executor) {
  const db = executor.withTables<ScheduleTables>()
  const live = () => db.selectFrom('schedules').select(scheduleColumns).where('deleted_at', 'is', null)

  async function nextPosition(): Promise<number> {
    const row = await db
      .updateTable('schedule_changes')
      .set((e) => ({ last_position: e('last_position', '+', 1) }))
      .where('id', '=', 1)
      .returning('last_position')
      .executeTakeFirstOrThrow()
    return row.last_position
  }

  return {
    /** Locks changes of schedules until the transaction ends, so that reads stay valid. */
    async lockChanges(): Promise<void> {
      await nextPosition()
    },

    async insert(row: Omit<Schedule, 'number' | 'position' | 'webhook_token_hash'>): Promise<Schedule> {
      const position = await nextPosition()
      return db
        .insertInto('schedules')
        .values({ ...row, number: position, position })
        .returning(scheduleColumns)
        .executeTakeFirstOrThrow()
    },

    /** Characters of all messages of the agent's schedules, without this one. */
    async messagesLength(agentId: string, without: string | null): Promise<number> {
      const row = await live()
        .clearSelect()
        .select((e) => e.fn.sum<number | string | null>(sql<number>`length(message)`).as('total'))
        .where('agent_id', '=', agentId)
        .$if(without !== null, (q) => q.where('id', '<>', without ?? ''))
        .executeTakeFirst()
      // PostgreSQL returns sums as text.
      return Number(row?.total ?? 0)
    },

    async byId(id: string): Promise<Schedule | null> {
      return (await live().where('id', '=', id).executeTakeFirst()) ?? null
    },

    byIds(ids: readonly string[]): Promise<Schedule[]> {
      return live()
        .where('id', 'in', [...ids])
        .execute()
    },

    /** Newest first. */
    ofAgent(agentId: string): Promise<Schedule[]> {
      return live()
        .where('agent_id', '=', agentId)
        .orderBy('created_at', 'desc')
        .orderBy('number', 'desc')
        .execute()
    },

    /** Schedules of all agents or of one, newest first. */
    all({ agentId, enabledOnly }: { agentId: string | null; enabledOnly: boolean }): Promise<Schedule[]> {
      return live()
        .$if(agentId !== null, (query) => query.where('agent_id', '=', agentId ?? ''))
        .$if(enabledOnly, (query) => query.where('enabled', '=', 1))
        .orderBy('created_at', 'desc')
        .orderBy('number', 'desc')
        .execute()
    },

    /** Every change of any schedule increases it. */
    async position(): Promise<number> {
      const row = await db.selectFrom('schedule_changes').select('last_position').executeTakeFirstOrThrow()
      return row.last_position
    },

    /** In order of position, with deleted schedules, which followers must remove. */
    changesAfter(position: number, limit: number): Promise<Schedule[]> {
      return db
        .selectFrom('schedules')
        .select(scheduleColumns)
        .where('position', '>', position)
        .orderBy('position')
        .limit(limit)
        .execute()
    },

    /** Null if it does not exist or was deleted. */
    async update(id: string, patch: SchedulePatch): Promise<Schedule | null> {
      const row = await db
        .updateTable('schedules')
        .set({ ...patch, position: await nextPosition() })
        .where('id', '=', id)
        .where('deleted_at', 'is', null)
        .returning(scheduleColumns)
        .executeTakeFirst()
      return row ?? null
    },

    /** Null if it was already deleted. */
    async remove(id: string, at: string): Promise<Schedule | null> {
      const row = await db
        .updateTable('schedules')
        .set({ ...noWebhook, deleted_at: at, updated_at: at, position: await nextPosition() })
        .where('id', '=', id)
        .where('deleted_at', 'is', null)
        .returning(scheduleColumns)
        .executeTakeFirst()
      return row ?? null
    },

    async deletedById(id: string): Promise<Schedule | null> {
      const row = await db
        .selectFrom('schedules')
        .select(scheduleColumns)
        .where('id', '=', id)
        .where('deleted_at', 'is not', null)
        .executeTakeFirst()
      return row ?? null
    },

    /** The most recently deleted first. */
    deleted(): Promise<Schedule[]> {
      return db
        .selectFrom('schedules')
        .select(scheduleColumns)
        .where('deleted_at', 'is not', null)
        .orderBy('deleted_at', 'desc')
        .orderBy('number', 'desc')
        .execute()
    },

    /** Null if it is not deleted, or was purged. */
    async recover(id: string, patch: SchedulePatch): Promise<Schedule | null> {
      const row = await db
        .updateTable('schedules')
        .set({ ...patch, deleted_at: null, position: await nextPosition() })
        .where('id', '=', id)
        .where('deleted_at', 'is not', null)
        .returning(scheduleColumns)
        .executeTakeFirst()
      return row ?? null
    },

    /** Purges schedules deleted before this time; returns their number. */
    async purge(before: string): Promise<number> {
      const result = await db.deleteFrom('schedules').where('deleted_at', '<', before).executeTakeFirst()
      return Number(result.numDeletedRows)
    },
  }
}

export type ScheduleStore = ReturnType<typeof scheduleStore>

/** Counts of schedules that are not deleted. */
export function scheduleCountStore(executor: Executor) {
  const db = executor.withTables<ScheduleTables>()
  return {
    /** Agents without schedules are omitted. */
    async counts(): Promise<Map<string, { total: number; enabled: number }>> {
      const rows = await db
        .selectFrom('schedules')
        .select((e) => [
          'agent_id',
          e.fn.countAll<number>().as('total'),
          e.fn.sum<number>('enabled').as('enabled'),
        ])
        .where('deleted_at', 'is', null)
        .groupBy('agent_id')
        .execute()
      return new Map(
        rows.map((row) => [row.agent_id, { total: Number(row.total), enabled: Number(row.enabled) }]),
      )
    },

    async total(): Promise<number> {
      const row = await db
        .selectFrom('schedules')
        .select((e) => e.fn.countAll<number>().as('total'))
        .where('deleted_at', 'is', null)
        .executeTakeFirstOrThrow()
      return Number(row.total)
    },

    /** Enabled schedules and those that a resume enables again; the longest timeout first. */
    async above(
      agentId: string,
      seconds: number,
    ): Promise<{ id: string; name: string; timeout_seconds: number }[]> {
      const rows = await db
        .selectFrom('schedules')
        .select(['id', 'name', 'timeout_seconds'])
        .where('agent_id', '=', agentId)
        .where('deleted_at', 'is', null)
        .where((e) => e.or([e('enabled', '=', 1), e('is_paused', '=', 1)]))
        .where('timeout_seconds', '>', seconds)
        .orderBy('timeout_seconds', 'desc')
        .execute()
      return rows.map((row) => ({ ...row, timeout_seconds: row.timeout_seconds ?? 0 }))
    },
  }
}
