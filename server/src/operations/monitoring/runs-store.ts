import type { Executor } from '../../ports/database/port.ts'
import type { ExecutionRow } from '../../runs/executions/index.ts'
import type { MonitoringTables } from './tables.ts'

export type RunFigures = {
  active: number
  /** Active runs that are older than the limit. */
  long: number
  queued: number
  /** Of the runs created since then. */
  success: number
  failed: number
}

export const noRuns = (): RunFigures => ({ active: 0, long: 0, queued: 0, success: 0, failed: 0 })

export type SilentCandidate = Pick<ExecutionRow, 'id' | 'agent_id' | 'left_out_at'> & {
  started_at: string
  newest_line: string | null
}

/** Reads runs for monitoring from the table of `executions`. */
export function runFiguresStore(executor: Executor) {
  const db = executor.withTables<MonitoringTables>()

  return {
    /** By agent, without agents that have no runs. Runs claimed before `longSince` are long. */
    async figures(since: string, longSince: string): Promise<Map<string, RunFigures>> {
      const live = await db
        .selectFrom('executions')
        .select(({ fn, eb }) => [
          'agent_id',
          'status',
          fn.countAll<number>().as('total'),
          fn.sum<number>(eb.case().when('started_at', '<=', longSince).then(1).else(0).end()).as('long'),
        ])
        .where('completed_at', 'is', null)
        .where('status', 'in', ['running', 'queued'])
        .groupBy(['agent_id', 'status'])
        .execute()
      const ended = await db
        .selectFrom('executions')
        .select(({ fn }) => ['agent_id', 'status', fn.countAll<number>().as('total')])
        .where('created_at', '>=', since)
        .where('status', 'in', ['success', 'failed'])
        .groupBy(['agent_id', 'status'])
        .execute()
      const found = new Map<string, RunFigures>()
      for (const { agent_id, status, total, long } of [
        ...live,
        ...ended.map((row) => ({ ...row, long: 0 })),
      ]) {
        const figures = found.get(agent_id) ?? noRuns()
        found.set(agent_id, figures)
        if (status === 'running') {
          figures.active += Number(total)
          figures.long += Number(long)
        } else if (status === 'queued') figures.queued += Number(total)
        else if (status === 'success') figures.success += Number(total)
        else figures.failed += Number(total)
      }
      return found
    },

    /** Running runs claimed before `before`, with the newest lines of their transcripts. */
    async runningSince(before: string): Promise<SilentCandidate[]> {
      const rows = await db
        .selectFrom('executions')
        .leftJoin('execution_lines', (join) =>
          join
            .onRef('execution_lines.execution_id', '=', 'executions.id')
            .onRef('execution_lines.n', '=', 'executions.last_line'),
        )
        .select(['id', 'agent_id', 'started_at', 'line', 'left_out_at'])
        .where('completed_at', 'is', null)
        .where('status', '=', 'running')
        .where('started_at', '<', before)
        .orderBy('started_at')
        .execute()
      return rows.map(({ line, started_at, ...row }) => ({
        ...row,
        started_at: started_at ?? before,
        newest_line: line,
      }))
    },

    /** Cost in micro-dollars of all runs created since then. */
    async costSince(since: string): Promise<number> {
      const row = await db
        .selectFrom('executions')
        .select(({ fn, lit }) => fn.coalesce(fn.sum<number | string>('cost_micros'), lit(0)).as('micros'))
        .where('created_at', '>=', since)
        .executeTakeFirstOrThrow()
      return Number(row.micros)
    },
  }
}
