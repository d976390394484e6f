import { sql } from 'kysely'
import type { Executor } from '../../ports/database/port.ts'
import type { ExecutionRow } from '../executions/index.ts'
import type { DayCount, DayTokens, UsedTokens } from './rules.ts'

/** Read only: the feature `executions` owns the table. */
export type AnalyticsTables = { executions: ExecutionRow }

/** Runs of one agent; with a key, only those that the key started. */
export type RunsOf = { agentId: string; keyId: string | null }

/** The index `executions_figures` covers every query. */
export function analyticsStore(executor: Executor) {
  const db = executor.withTables<AnalyticsTables>()
  const runsOf = ({ agentId, keyId }: RunsOf, since: string | null) =>
    db
      .selectFrom('executions')
      .where('agent_id', '=', agentId)
      .$if(since !== null, (query) => query.where('created_at', '>=', since ?? ''))
      .$if(keyId !== null, (query) => query.where('source_mcp_key_id', '=', keyId ?? ''))

  return {
    async countsByDay(runs: RunsOf, since: string): Promise<DayCount[]> {
      return runsOf(runs, since)
        .select(({ fn }) => [
          day.as('day'),
          'status',
          'triggered_by',
          fn.countAll<number>().as('total'),
          total('cost_micros').as('cost_micros'),
          hasEstimate,
          fn.count<number>('duration_ms').as('timed'),
          total('duration_ms').as('duration_ms'),
          fn.count<number>('context_used').as('with_context'),
          total('context_used').as('context_used'),
        ])
        .groupBy(['day', 'status', 'triggered_by'])
        .execute()
    },

    /** Durations of the newest successful runs, newest first. */
    async durations(runs: RunsOf, since: string, limit: number): Promise<number[]> {
      const rows = await runsOf(runs, since)
        .select('duration_ms')
        .where('status', '=', 'success')
        .where('duration_ms', 'is not', null)
        .orderBy('created_at', 'desc')
        .orderBy('queue_number', 'desc')
        .limit(limit)
        .execute()
      return rows.map(({ duration_ms }) => duration_ms ?? 0)
    },

    async tokens(runs: RunsOf, since: string | null): Promise<UsedTokens> {
      return runsOf(runs, since).select(tokenSums).executeTakeFirstOrThrow()
    },

    async tokensByDay(runs: RunsOf, since: string): Promise<DayTokens[]> {
      return runsOf(runs, since)
        .select([day.as('day'), ...tokenSums])
        .groupBy('day')
        .execute()
    },
  }
}

/** Timestamps have a fixed width, so the first ten characters are the UTC day. */
const day = sql<string>`substr(created_at, 1, 10)`

type Summed = 'cost_micros' | 'duration_ms' | 'context_used' | 'input_tokens' | 'output_tokens'
function total(column: Summed) {
  return sql<number>`coalesce(sum(${sql.ref(column)}), 0)`
}

const hasEstimate = sql<number>`coalesce(max(cost_estimated), 0)`.as('cost_estimated')

const tokenSums = [
  total('input_tokens').as('input_tokens'),
  total('output_tokens').as('output_tokens'),
  total('cost_micros').as('cost_micros'),
  hasEstimate,
] as const
