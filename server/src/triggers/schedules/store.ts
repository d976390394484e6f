import type { Executor } from '../../ports/database/port.ts'
import type { SchedulesTable, ScheduleTables } from './tables.ts'

export type Schedule = SchedulesTable
/** What a change of a schedule may set; its position is set beside it. */
export type SchedulePatch = Partial<
  Omit<Schedule, 'id' | 'number' | 'agent_id' | 'position' | 'webhook_token_hash'>
>

/** All of a schedule but its webhook. */
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
  'created_by',
  'created_by_id',
  'created_at',
  'updated_at',
  'armed_at',
  'deleted_at',
  'position',
  'webhook_token_hash',
] as const satisfies (keyof Schedule)[]

/** Every column of a webhook: without a token there is none. */
const noWebhook = {
  webhook_token_hash: null,
  webhook_token_sealed: null,
  webhook_secret_sealed: null,
  webhook_signs_time: 0,
  webhook_created_at: null,
  webhook_last_called_at: null,
}

/** Writes happen in a transaction: each takes the next position first, and so they stand in line. */
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
    /** Until the transaction ends, no other changes a schedule; what is read from now on stays true. */
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

    /** Of all agents, or of one; newest first. */
    all({ agentId, enabledOnly }: { agentId: string | null; enabledOnly: boolean }): Promise<Schedule[]> {
      return live()
        .$if(agentId !== null, (query) => query.where('agent_id', '=', agentId ?? ''))
        .$if(enabledOnly, (query) => query.where('enabled', '=', 1))
        .orderBy('created_at', 'desc')
        .orderBy('number', 'desc')
        .execute()
    },

    /** Goes up with every change of any schedule. */
    async position(): Promise<number> {
      const row = await db.selectFrom('schedule_changes').select('last_position').executeTakeFirstOrThrow()
      return row.last_position
    },

    /** Deleted ones too: whoever follows the changes has to forget them. In the order of their positions. */
    changesAfter(position: number, limit: number): Promise<Schedule[]> {
      return db
        .selectFrom('schedules')
        .select(scheduleColumns)
        .where('position', '>', position)
        .orderBy('position')
        .limit(limit)
        .execute()
    },

    /** Null: it is gone, or deleted meanwhile. */
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

    /** Null: it was deleted already. */
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

    /** The last deleted first. */
    deleted(): Promise<Schedule[]> {
      return db
        .selectFrom('schedules')
        .select(scheduleColumns)
        .where('deleted_at', 'is not', null)
        .orderBy('deleted_at', 'desc')
        .orderBy('number', 'desc')
        .execute()
    },

    /** Null: it is not deleted, or purged meanwhile. */
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

    /** Removes for good what was deleted before. Answers how many. */
    async purge(before: string): Promise<number> {
      const result = await db.deleteFrom('schedules').where('deleted_at', '<', before).executeTakeFirst()
      return Number(result.numDeletedRows)
    },
  }
}

export type ScheduleStore = ReturnType<typeof scheduleStore>
