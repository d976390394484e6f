import type { ExecutionStatus } from '@roost/contracts/runs/executions'
import { type SelectQueryBuilder, sql } from 'kysely'
import type { Executor } from '../../ports/database/port.ts'
import type { ExecutionRow } from '../../runs/executions/index.ts'
import type { ScheduleTables } from './tables.ts'

/** Counts of runs with one status on one day. */
export type DayCount = {
  day: string
  status: ExecutionStatus
  total: number
  cost_micros: number
  /** 1 if part of the cost is an estimate. */
  cost_estimated: number
  costed: number
}
export type ScheduleCount = {
  schedule_id: string
  status: ExecutionStatus
  total: number
  cost_micros: number
  cost_estimated: number
  timed: number
  duration_ms: number
  tools: number
}
export type ToolFigure = { tool: string; calls: number; duration_ms: number }
export type LastRun = Pick<ExecutionRow, 'id' | 'status' | 'started_at' | 'created_at'>

/** Reads the runs of schedules from the index `executions_schedule`. Validations are not runs of a schedule. */
export function runStore(executor: Executor) {
  const db = executor.withTables<ScheduleTables>()
  const runsOf = (scheduleId: string, since: string) =>
    db
      .selectFrom('executions')
      .where('schedule_id', '=', scheduleId)
      .where('triggered_by', '!=', 'validation')
      .where('created_at', '>=', since)

  function newestFirst<O>(query: SelectQueryBuilder<ScheduleTables, 'executions', O>) {
    return query.orderBy('executions.created_at', 'desc').orderBy('executions.queue_number', 'desc')
  }

  async function lastIds(scheduleIds: readonly string[]): Promise<string[]> {
    if (scheduleIds.length === 0) return []
    // One index lookup per schedule; grouping would read all runs.
    const rows = await db
      .selectFrom('schedules')
      .select((e) =>
        e
          .selectFrom('executions')
          .select('executions.id')
          .whereRef('executions.schedule_id', '=', 'schedules.id')
          .where('executions.status', 'not in', ['skipped', 'pending_retry'])
          .where('executions.triggered_by', '!=', 'validation')
          .orderBy('executions.created_at', 'desc')
          .orderBy('executions.queue_number', 'desc')
          .limit(1)
          .as('run_id'),
      )
      .where('schedules.id', 'in', [...scheduleIds])
      .execute()
    return rows.flatMap(({ run_id }) => (run_id === null ? [] : [run_id]))
  }

  return {
    /** The newest run of each schedule that was not skipped; schedules without runs are omitted. */
    async last(scheduleIds: readonly string[]): Promise<Map<string, LastRun>> {
      const ids = await lastIds(scheduleIds)
      if (ids.length === 0) return new Map()
      const rows = await db
        .selectFrom('executions')
        .select(['id', 'schedule_id', 'status', 'started_at', 'created_at'])
        .where('id', 'in', ids)
        .execute()
      return new Map(rows.map((row) => [row.schedule_id ?? '', row]))
    },

    async byIds(ids: readonly string[]): Promise<ExecutionRow[]> {
      if (ids.length === 0) return []
      return db
        .selectFrom('executions')
        .selectAll()
        .where('id', 'in', [...ids])
        .execute()
    },

    /** Newest first, with the total; with `keyId` only runs that this key started. */
    async page(
      scheduleId: string,
      query: {
        limit: number
        offset: number
        withValidations: boolean
        keyId?: string | undefined
      },
    ): Promise<{ rows: ExecutionRow[]; total: number }> {
      const { limit, offset, withValidations, keyId } = query
      const all = db
        .selectFrom('executions')
        .where('schedule_id', '=', scheduleId)
        .$if(!withValidations, (q) => q.where('triggered_by', '!=', 'validation'))
        .$if(keyId !== undefined, (q) => q.where('source_mcp_key_id', '=', keyId ?? ''))
      const ids = newestFirst(all.select('executions.id')).limit(limit).offset(offset)
      const rows = await newestFirst(
        db.selectFrom('executions').selectAll().where('executions.id', 'in', ids),
      ).execute()
      const { total } = await all.select((e) => e.fn.countAll<number>().as('total')).executeTakeFirstOrThrow()
      return { rows, total: Number(total) }
    },

    async countsByDay(scheduleId: string, since: string): Promise<DayCount[]> {
      const rows = await runsOf(scheduleId, since)
        .select(({ fn }) => [
          day.as('day'),
          'status',
          fn.countAll<number>().as('total'),
          total('cost_micros').as('cost_micros'),
          hasEstimate,
          costed.as('costed'),
        ])
        .groupBy(['day', 'status'])
        .execute()
      return rows.map((row) => ({
        ...row,
        total: Number(row.total),
        cost_micros: Number(row.cost_micros),
        costed: Number(row.costed),
      }))
    },

    /** Durations of the newest successful runs, newest first. */
    async durations(scheduleId: string, since: string, limit: number): Promise<number[]> {
      const rows = await newestFirst(
        runsOf(scheduleId, since)
          .select('duration_ms')
          .where('status', '=', 'success')
          .where('duration_ms', 'is not', null),
      )
        .limit(limit)
        .execute()
      return rows.map(({ duration_ms }) => duration_ms ?? 0)
    },

    async tools(scheduleId: string, since: string): Promise<ToolFigure[]> {
      const rows = await db
        .selectFrom('execution_tools')
        .select(({ fn }) => [
          'tool',
          fn.countAll<number>().as('calls'),
          total('duration_ms').as('duration_ms'),
        ])
        .where('execution_id', 'in', runsOf(scheduleId, since).select('executions.id'))
        .groupBy('tool')
        .execute()
      return rows.map((row) => ({ ...row, calls: Number(row.calls), duration_ms: Number(row.duration_ms) }))
    },

    /** For the schedules of one agent that are not deleted. */
    async countsBySchedule(agentId: string, since: string): Promise<ScheduleCount[]> {
      const ofAgent = db
        .selectFrom('schedules')
        .select('schedules.id')
        .where('agent_id', '=', agentId)
        .where('deleted_at', 'is', null)
      const rows = await db
        .selectFrom('executions')
        .select(({ fn }) => [
          'schedule_id',
          'status',
          fn.countAll<number>().as('total'),
          total('cost_micros').as('cost_micros'),
          hasEstimate,
          fn.count<number>('duration_ms').as('timed'),
          total('duration_ms').as('duration_ms'),
          total('tool_count').as('tools'),
        ])
        .where('schedule_id', 'in', ofAgent)
        .where('triggered_by', '!=', 'validation')
        .where('created_at', '>=', since)
        .groupBy(['schedule_id', 'status'])
        .execute()
      return rows.map((row) => ({
        schedule_id: row.schedule_id ?? '',
        status: row.status,
        total: Number(row.total),
        cost_micros: Number(row.cost_micros),
        cost_estimated: row.cost_estimated,
        timed: Number(row.timed),
        duration_ms: Number(row.duration_ms),
        tools: Number(row.tools),
      }))
    },
  }
}

export type RunStore = ReturnType<typeof runStore>

/** Times are text of fixed width, so the first characters are the day in UTC. */
const day = sql<string>`substr(created_at, 1, 10)`

/** Runs that were skipped or failed immediately cost nothing, and would distort the average cost. */
const costed = sql<number>`coalesce(sum(case when cost_micros > 0 then 1 else 0 end), 0)`

const hasEstimate = sql<number>`coalesce(max(cost_estimated), 0)`.as('cost_estimated')

function total(column: 'cost_micros' | 'duration_ms' | 'tool_count') {
  return sql<number>`coalesce(sum(${sql.ref(column)}), 0)`
}
