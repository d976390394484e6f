import type { ExecutionsTable } from './tables.ts'

/** Columns that other writers may change while a run stays under the same claim or stays queued. */
export const concurrentColumns = [
  'agent_name',
  'agent_deleted',
  'spawned_at',
  'last_line',
  'line_offset',
  'line_bytes',
  'left_out_lines',
  'left_out_at',
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

/** Omits the later columns of a new run while all are null, so that only two prepared statements exist. */
export function insertValues(row: ExecutionsTable): ExecutionsTable {
  if (laterColumns.some((column) => row[column] !== null)) return row
  const columns = Object.entries(row).filter(([column]) => !isLaterColumn.has(column))
  // The database sets omitted columns to null, which their type allows.
  return Object.fromEntries(columns) as ExecutionsTable
}

/** Columns that are set later; nearly every new run has none of them. */
const laterColumns: readonly (keyof ExecutionsTable)[] = [
  'started_at',
  'spawned_at',
  'completed_at',
  'duration_ms',
  'claim_token',
  'lease_expires_at',
  'late_result_at',
  'left_out_at',
  'log_removed_at',
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

const isLaterColumn: ReadonlySet<string> = new Set(laterColumns)
