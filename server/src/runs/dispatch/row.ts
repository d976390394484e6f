import type { RunContext } from '../../agents/run-context/index.ts'
import { principalOn } from '../../identity/access/index.ts'
import { timestamp } from '../../kit/clock.ts'
import type { ExecutionRow } from '../executions/index.ts'
import { storableText } from '../transcripts/index.ts'
import type { RequestSnapshot, RunRequest } from './request.ts'
import { effectiveTimeout } from './rules.ts'

/** The id of a run and its position in the queue. */
export type Place = {
  id: string
  number: number
  /** Counts against the queue limit. */
  bounded: boolean
  held?: boolean
  chain_depth: number
  now: Date
  /** `queued_at` of the last queued run: later ones follow it, even when the clock was set back. */
  behind?: string | null
}

/** What a row needs of its agent. */
type RowAgent = Pick<RunContext, 'id' | 'name' | 'execution_timeout_seconds' | 'model'>

/** The row of a run that is accepted or refused now. */
export function rowOf(agent: RowAgent, request: RunRequest, place: Place): ExecutionRow {
  const { source, links = {} } = request
  const at = timestamp(place.now)
  const snapshot: RequestSnapshot = {
    system_prompt: request.systemPrompt ?? null,
    max_turns: request.maxTurns ?? null,
    resume_session_id: request.resumeSessionId ?? null,
    schedule: request.schedule ?? null,
    ...(request.note ? { note: request.note } : {}),
    ...(request.metadata ? { metadata: request.metadata } : {}),
    attachments: request.attachments?.length ?? 0,
  }
  return {
    id: place.id,
    agent_id: agent.id,
    agent_name: agent.name,
    agent_deleted: 0,
    kind: request.kind,
    status: 'queued',
    triggered_by: request.triggeredBy,
    message: storableText(request.message),
    request: JSON.stringify(snapshot),
    created_at: at,
    queued_at: place.held ? null : place.behind && place.behind > at ? place.behind : at,
    queue_number: place.number,
    is_bounded: place.bounded ? 1 : 0,
    serial_key: request.kind === 'chat' ? (request.sessionId ?? null) : null,
    timeout_seconds: effectiveTimeout(request.timeoutSeconds, agent.execution_timeout_seconds),
    model: request.model ?? agent.model,
    allowed_tools: request.allowedTools ? JSON.stringify(request.allowedTools) : null,
    attempt_number: request.attempt?.number ?? 1,
    retry_of_execution_id: request.attempt?.firstExecutionId ?? null,
    schedule_id: links.scheduleId ?? null,
    fan_out_id: links.fanOutId ?? null,
    fan_out_task_id: links.fanOutTaskId ?? null,
    loop_id: links.loopId ?? null,
    reminder_id: links.reminderId ?? null,
    session_id: request.sessionId ?? null,
    parent_execution_id: links.parentExecutionId ?? source.executionId ?? null,
    validates_execution_id: links.validatesExecutionId ?? null,
    chain_depth: place.chain_depth,
    principal: principalOn(agent.id, source.principal),
    source_user_id: source.userId,
    source_user_email: source.userEmail,
    source_agent_id: source.agent?.id ?? null,
    source_agent_name: source.agent?.name ?? null,
    source_mcp_key_id: source.key?.id ?? null,
    source_mcp_key_name: source.key?.name ?? null,
    source_mcp_scope: source.key?.scope ?? null,
    ...initialState,
  }
}

/** Columns that are not set yet on a new run. */
export const initialState = {
  started_at: null,
  spawned_at: null,
  completed_at: null,
  duration_ms: null,
  claim_token: null,
  lease_expires_at: null,
  last_line: 0,
  line_offset: 0,
  line_bytes: 0,
  left_out_lines: 0,
  left_out_at: null,
  restarts: 0,
  late_result_at: null,
  log_removed_at: null,
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
  retry_scheduled_at: null,
  business_status: null,
  validated_at: null,
  validation_execution_id: null,
  validation_report: null,
  delivery: null,
} satisfies Partial<ExecutionRow>
