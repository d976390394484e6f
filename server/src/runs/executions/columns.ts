import type { ExecutionsTable } from './tables.ts'

/** What may have changed since a run was read that is still under the same claim, or still waits. */
export const movedMeanwhile = [
  'agent_name',
  'agent_deleted',
  'spawned_at',
  'last_line',
  'metered_requests',
  'cost_micros',
  'cost_estimated',
  'model_used',
  'context_used',
  'context_max',
  'input_tokens',
  'output_tokens',
  'cache_creation_tokens',
  'cache_read_tokens',
  'business_status',
  'delivery',
] as const

/** Without the columns that are null anyway: there are two texts of the statement, and both are prepared. */
export function written(row: ExecutionsTable): ExecutionsTable {
  if (afterwards.some((column) => row[column] !== null)) return row
  const kept = Object.entries(row).filter(([column]) => !isAfterwards.has(column))
  // All others may be null, which is what the database gives a column that is not named.
  return Object.fromEntries(kept) as ExecutionsTable
}

/** Columns that a run gets on its way; nearly every one that is taken in has none of them. */
const afterwards: readonly (keyof ExecutionsTable)[] = [
  'started_at',
  'spawned_at',
  'completed_at',
  'duration_ms',
  'claim_token',
  'lease_expires_at',
  'late_result_at',
  'cost_micros',
  'model_used',
  'context_used',
  'context_max',
  'input_tokens',
  'output_tokens',
  'cache_creation_tokens',
  'cache_read_tokens',
  'response',
  'error',
  'error_code',
  'terminal_reason',
  'skip_reason',
  'num_turns',
  'tool_count',
  'compact_events',
  'runtime_session_id',
  'retry_scheduled_at',
  'business_status',
  'validated_at',
  'validation_execution_id',
  'validation_report',
  'delivery',
]

const isAfterwards: ReadonlySet<string> = new Set(afterwards)
