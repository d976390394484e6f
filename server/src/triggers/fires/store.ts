import type { FireOutcome } from '@roost/contracts/triggers/schedules'
import type { Executor, RowStatement } from '../../ports/database/port.ts'
import type { FiresTable, FireTables, SchedulerStateTable } from './tables.ts'

export type FireRow = FiresTable
export type DueTime = Pick<FireRow, 'schedule_id' | 'due_at'>
export type Decision = {
  outcome: FireOutcome
  reason: string | null
  execution_id: string | null
  recorded_at: string
}
export type SchedulerState = Omit<SchedulerStateTable, 'id'>

/** Far below the parameter limit of both databases. */
const rowsPerStatement = 200

/** Identifies a due time. */
export function keyOf({ schedule_id, due_at }: DueTime): string {
  return `${schedule_id} ${due_at}`
}

export type FireStore = ReturnType<typeof fireStore>

export function fireStore(executor: Executor) {
  const db = executor.withTables<FireTables>()

  const insertion: RowStatement<FireRow, DueTime> = {
    name: 'fires.insert',
    rows: rowsPerStatement,
    make: (rows) =>
      db
        .insertInto('fires')
        .values([...rows])
        .onConflict((conflict) => conflict.columns(['schedule_id', 'due_at']).doNothing())
        .returning(['schedule_id', 'due_at']),
  }
  const decision: RowStatement<FireRow, DueTime> = {
    name: 'fires.decide',
    rows: rowsPerStatement,
    make: (rows) =>
      db
        .insertInto('fires')
        .values([...rows])
        .onConflict((conflict) =>
          conflict
            .columns(['schedule_id', 'due_at'])
            .doUpdateSet((e) => ({
              outcome: e.ref('excluded.outcome'),
              reason: e.ref('excluded.reason'),
              execution_id: e.ref('excluded.execution_id'),
              recorded_at: e.ref('excluded.recorded_at'),
            }))
            .where('fires.outcome', 'is', null),
        )
        .returning(['schedule_id', 'due_at']),
  }

  return {
    /** Returns the rows that did not exist. */
    insertNew: (rows: readonly FireRow[]): Promise<DueTime[]> => executor.manyRows(insertion, rows),

    /** Decides a due time, claimed or not; null if it was already decided. */
    async decide(due: DueTime & { agent_id: string }, decision: Decision): Promise<DueTime | null> {
      const row = await db
        .insertInto('fires')
        .values({ ...due, is_catch_up: 0, ...decision })
        .onConflict((conflict) =>
          conflict
            .columns(['schedule_id', 'due_at'])
            .doUpdateSet({ ...decision })
            .where('fires.outcome', 'is', null),
        )
        .returning(['schedule_id', 'due_at'])
        .executeTakeFirst()
      return row ?? null
    },

    /** Decides several distinct due times; returns those that were not decided before. */
    decideAll: (rows: readonly (DueTime & { agent_id: string } & Decision)[]): Promise<DueTime[]> =>
      executor.manyRows(
        decision,
        rows.map((row) => ({ ...row, is_catch_up: 0 })),
      ),

    /** Rows of these schedules at these times. */
    async findAll(dues: readonly DueTime[]): Promise<FireRow[]> {
      if (dues.length === 0) return []
      return db
        .selectFrom('fires')
        .selectAll()
        .where('schedule_id', 'in', [...new Set(dues.map((due) => due.schedule_id))])
        .where('due_at', 'in', [...new Set(dues.map((due) => due.due_at))])
        .execute()
    },

    async find({ schedule_id, due_at }: DueTime): Promise<FireRow | null> {
      const row = await db
        .selectFrom('fires')
        .selectAll()
        .where('schedule_id', '=', schedule_id)
        .where('due_at', '=', due_at)
        .executeTakeFirst()
      return row ?? null
    },

    /** Claimed and undecided fires, oldest first. */
    open(): Promise<FireRow[]> {
      return db.selectFrom('fires').selectAll().where('outcome', 'is', null).orderBy('due_at').execute()
    },

    /** Deletes undecided claims of this time. */
    async release(dueAt: string, scheduleIds: readonly string[]): Promise<void> {
      await db
        .deleteFrom('fires')
        .where('due_at', '=', dueAt)
        .where('schedule_id', 'in', [...scheduleIds])
        .where('outcome', 'is', null)
        .execute()
    },

    /** Deletes undecided claims that were made before their due time. */
    async releaseAhead(): Promise<void> {
      await db
        .deleteFrom('fires')
        .where('outcome', 'is', null)
        .whereRef('recorded_at', '<', 'due_at')
        .execute()
    },

    /** The newest recorded due time of each schedule up to `until`. */
    async lastDue(until: string): Promise<Map<string, string>> {
      const rows = await db
        .selectFrom('fires')
        .select((e) => ['schedule_id', e.fn.max('due_at').as('due_at')])
        .where('due_at', '<=', until)
        .groupBy('schedule_id')
        .execute()
      return new Map(rows.map((row) => [row.schedule_id, row.due_at]))
    },

    /** The newest decided fire of each schedule. */
    async last(scheduleIds: readonly string[]): Promise<FireRow[]> {
      const found: FireRow[] = []
      for (let start = 0; start < scheduleIds.length; start += rowsPerStatement) {
        // One index lookup per schedule; grouping would read the whole index.
        const [first, ...others] = scheduleIds
          .slice(start, start + rowsPerStatement)
          .map((id) => db.selectFrom(newest(id, 1).as('newest')).selectAll())
        if (first) found.push(...(await others.reduce((all, next) => all.unionAll(next), first).execute()))
      }
      return found
    },

    list: (scheduleId: string, limit: number): Promise<FireRow[]> => newest(scheduleId, limit).execute(),

    /**
     * Removes rows recorded before `before`. The newest row of each schedule stays until `longBefore`, because it marks
     * the times up to which fires were handled.
     */
    async sweep(before: string, longBefore: string): Promise<number> {
      const result = await db
        .deleteFrom('fires')
        .where('recorded_at', '<', before)
        .where('outcome', 'is not', null)
        .where((e) =>
          e.or([
            e('recorded_at', '<', longBefore),
            e.exists(
              e
                .selectFrom('fires as newer')
                .select('newer.schedule_id')
                .whereRef('newer.schedule_id', '=', 'fires.schedule_id')
                .whereRef('newer.due_at', '>', 'fires.due_at'),
            ),
          ]),
        )
        .executeTakeFirst()
      return Number(result.numDeletedRows)
    },

    async removeAgent(agentId: string): Promise<void> {
      await db.deleteFrom('fires').where('agent_id', '=', agentId).execute()
    },

    async state(): Promise<SchedulerState | null> {
      return (await db.selectFrom('scheduler_state').selectAll().executeTakeFirst()) ?? null
    },

    async storeState(state: SchedulerState): Promise<void> {
      await db
        .insertInto('scheduler_state')
        .values({ id: 1, ...state })
        .onConflict((conflict) => conflict.column('id').doUpdateSet(state))
        .execute()
    },
  }

  function newest(scheduleId: string, limit: number) {
    return db
      .selectFrom('fires')
      .selectAll()
      .where('schedule_id', '=', scheduleId)
      .where('outcome', 'is not', null)
      .orderBy('due_at', 'desc')
      .limit(limit)
  }
}
