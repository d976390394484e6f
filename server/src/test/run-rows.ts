import { newId } from '../kit/ids.ts'
import type { Db } from '../ports/database/port.ts'
import { type ExecutionRow, executionStore, isFinal } from '../runs/executions/index.ts'

/** Returns the row of a finished task of agent `a1`, for tests of queries. */
export function runRow(over: Partial<ExecutionRow> = {}): ExecutionRow {
  const created_at = over.created_at ?? '2026-01-05T07:00:00.000Z'
  return {
    id: newId(),
    agent_id: 'a1',
    agent_name: 'scout',
    agent_deleted: 0,
    kind: 'task',
    status: 'success',
    triggered_by: 'manual',
    message: 'do it',
    request: '{}',
    created_at,
    queued_at: created_at,
    queue_number: 1,
    is_bounded: 1,
    serial_key: null,
    started_at: created_at,
    spawned_at: created_at,
    completed_at: isFinal(over.status ?? 'success') ? created_at : null,
    duration_ms: null,
    // A running task was claimed.
    claim_token: over.status === 'running' ? 1 : null,
    lease_expires_at: null,
    last_line: 0,
    line_offset: 0,
    line_bytes: 0,
    left_out_lines: 0,
    left_out_at: null,
    restarts: 0,
    late_result_at: null,
    log_removed_at: null,
    timeout_seconds: 3600,
    model: null,
    allowed_tools: null,
    cost_micros: null,
    cost_estimated: 0,
    metered_requests: 0,
    model_used: null,
    context_used: null,
    context_max: null,
    input_tokens: null,
    output_tokens: null,
    cache_creation_tokens: null,
    cache_read_tokens: null,
    response: null,
    error: null,
    error_code: null,
    terminal_reason: null,
    skip_reason: null,
    num_turns: null,
    tool_count: null,
    compact_events: null,
    runtime_session_id: null,
    attempt_number: 1,
    retry_of_execution_id: null,
    retry_scheduled_at: null,
    business_status: null,
    validated_at: null,
    validation_execution_id: null,
    validates_execution_id: null,
    validation_report: null,
    delivery: null,
    schedule_id: null,
    fan_out_id: null,
    fan_out_task_id: null,
    loop_id: null,
    reminder_id: null,
    session_id: null,
    parent_execution_id: null,
    chain_depth: 0,
    principal: null,
    source_user_id: null,
    source_user_email: null,
    source_agent_id: null,
    source_agent_name: null,
    source_mcp_key_id: null,
    source_mcp_key_name: null,
    source_mcp_scope: null,
    ...over,
  }
}

/** Inserts in the given order, which rows with equal times keep. */
export async function insertRuns(db: Db, rows: readonly Partial<ExecutionRow>[]): Promise<ExecutionRow[]> {
  const inserted = rows.map((over, index) => runRow({ queue_number: index + 1, ...over }))
  for (const row of inserted) await executionStore(db).insert(row)
  return inserted
}
