import type { ExecutionErrorCode, ExecutionStatus, Trigger } from '@roost/contracts/runs/executions'
import type { Generated } from 'kysely'

/** One row per run of any kind. Booleans are 0 or 1, times ISO 8601 in UTC, money in micro-dollars. */
export type ExecutionsTable = {
  id: string
  agent_id: string
  /** Changes when the agent is renamed. */
  agent_name: string
  agent_deleted: number
  kind: 'chat' | 'task'
  status: ExecutionStatus
  triggered_by: Trigger
  message: string
  /** JSON `RequestSnapshot`: the rest of the request, as dispatched. */
  request: string

  created_at: string
  /** Queue position. Null while the run is held: it waits for other runs of its fan-out, not for a slot. */
  queued_at: string | null
  /** Grows with each accepted run of the agent; orders runs that were queued in the same millisecond. */
  queue_number: number
  /** 1 when the run counts against the agent's queue limit while it waits. */
  is_bounded: number
  /** Runs of one agent with the same key never run concurrently. */
  serial_key: string | null
  started_at: string | null
  /** Null while the run is parked: claimed, its runtime not yet spawned. */
  spawned_at: string | null
  completed_at: string | null
  duration_ms: number | null

  claim_token: number | null
  lease_expires_at: string | null
  /** Number of the last stored line. */
  last_line: number
  /** What the agent does not count: lines before the current claim, and the notice of a limit. It counts from 1. */
  line_offset: number
  /** Size of the stored lines, as the limits of transcripts count it. */
  line_bytes: number
  /** Lines that were not stored, because the transcript had reached its limit. */
  left_out_lines: number
  /** When the last of them arrived. */
  left_out_at: string | null
  /** Number of restarts because the runtime had lost its session. */
  restarts: number
  /** Time of a result that arrived after the end. */
  late_result_at: string | null
  /** When retention removed the transcript; set for runs without lines too. */
  log_removed_at: string | null

  timeout_seconds: number
  model: string | null
  /** JSON array. */
  allowed_tools: string | null

  cost_micros: number | null
  /** 1: part of the cost is an estimate, for example by model family. */
  cost_estimated: number
  /** Requests that the broker metered. Above 0, its figures replace those of the runtime. */
  metered_requests: number
  model_used: string | null
  context_used: number | null
  context_max: number | null
  input_tokens: number | null
  output_tokens: number | null
  cache_creation_tokens: number | null
  cache_read_tokens: number | null

  response: string | null
  error: string | null
  error_code: ExecutionErrorCode | null
  terminal_reason: string | null
  skip_reason: string | null
  num_turns: number | null
  tool_count: number | null
  /** JSON array of `CompactEvent`. */
  compact_events: string | null
  runtime_session_id: string | null

  attempt_number: number
  retry_of_execution_id: string | null
  retry_scheduled_at: string | null
  business_status: 'pending_validation' | 'validated' | 'failed_validation' | 'validation_unavailable' | null
  validated_at: string | null
  validation_execution_id: string | null
  validates_execution_id: string | null
  validation_report: string | null
  delivery: string | null

  schedule_id: string | null
  fan_out_id: string | null
  fan_out_task_id: string | null
  loop_id: string | null
  reminder_id: string | null
  session_id: string | null
  parent_execution_id: string | null
  chain_depth: number
  /** On whose behalf it works; null for runs of releases without principals. */
  principal: string | null
  source_user_id: string | null
  source_user_email: string | null
  source_agent_id: string | null
  source_agent_name: string | null
  source_mcp_key_id: string | null
  source_mcp_key_name: string | null
  source_mcp_scope: string | null
}

export type AgentQueuesTable = {
  agent_id: string
  last_number: number
  /** Whole MiB that transcripts of the agent's runs have stored on `transcript_day` (UTC, such as 2026-01-05). */
  transcript_mebibytes: Generated<number>
  transcript_day: Generated<string | null>
}

export type ExecutionTables = { executions: ExecutionsTable; agent_queues: AgentQueuesTable }
