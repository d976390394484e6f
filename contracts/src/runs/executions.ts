import { z } from 'zod'
import { endpoint } from '../kit/endpoint.ts'
import { AgentParams, Money, queryBoolean, queryInteger, Timestamp } from '../kit/primitives.ts'
import { resultFields } from '../link/result.ts'
import { CostEstimated } from './cost.ts'
import { ModelProvider } from './provider-subscriptions.ts'

const tag = 'Executions'

export const executionStatuses = [
  'queued',
  'running',
  'success',
  'failed',
  'cancelled',
  'skipped',
  'pending_retry',
] as const
export type ExecutionStatus = (typeof executionStatuses)[number]

/** A record with one of these never changes its status again. */
export const finalStatuses = ['success', 'failed', 'cancelled', 'skipped'] as const
export type FinalStatus = (typeof finalStatuses)[number]

/** Causes of a run. */
export const triggers = [
  'schedule',
  'manual',
  'chat',
  'session',
  'workspace',
  'mcp',
  'agent',
  'self_task',
  'event',
  'webhook',
  'fan_out',
  'loop',
  'reminder',
  'retry',
  'validation',
  'operator_response',
  'public',
  'paid',
  'slack',
  'voice',
  'voip',
  'playbook',
] as const
export type Trigger = (typeof triggers)[number]

export const executionErrorCodes = [
  'timeout',
  'stalled',
  'rate_limited',
  'auth',
  'billing',
  'oom',
  'max_turns',
  'model_unsupported',
  'agent_error',
  'no_result',
  'network',
  'circuit_open',
  'cap_reached',
  'recipient_unreachable',
  'queue_expired',
  'lease_expired',
  'agent_lost',
  'agent_stopped',
  'agent_deleted',
  'access_ended',
  'user_cancelled',
] as const
export type ExecutionErrorCode = (typeof executionErrorCodes)[number]

/** Filters by error code. The server checks it, so that the error lists the codes. */
export const ErrorFilter = z
  .string()
  .max(50)
  .optional()
  .describe('The error code of the run; empty: runs without one.')

const id = z.string()
const text = z.string().nullable()
const integer = z.number().int()
const count = integer.nullable()
const time = Timestamp.nullable()

const LogRemovedAt = time.describe(
  'When retention removed the transcript and the tool calls; everything else stays. Null while they are stored.',
)

/** A row of a list; the details have the large fields. */
export const ExecutionSummary = z
  .object({
    id,
    agent_name: z.string(),
    status: z.enum(executionStatuses),
    message: text.describe('Null if the conversation is private to another person.'),
    triggered_by: z.enum(triggers),
    schedule_id: text,
    created_at: Timestamp,
    queued_at: time,
    started_at: time.describe('When the agent claimed the run.'),
    completed_at: time,
    duration_ms: count,
    cost: Money.nullable().describe('US dollars, as booked by the broker. Spend caps use this value.'),
    cost_estimated: CostEstimated,
    model_used: text,
    context_used: count,
    context_max: count,
    input_tokens: count,
    output_tokens: count,
    attempt_number: integer,
    retry_of_execution_id: text.describe('The first attempt.'),
    retry_scheduled_at: time,
    business_status: z
      .enum(['pending_validation', 'validated', 'failed_validation', 'validation_unavailable'])
      .nullable(),
    fan_out_id: text,
    fan_out_task_id: text,
    loop_id: text,
    reminder_id: text,
    session_id: text.describe('Null in a redacted row, except for the agent itself.'),
    parent_execution_id: text,
    chain_depth: integer,
    source_user_id: text,
    source_user_email: text,
    source_agent_name: text,
    source_mcp_key_id: text,
    source_mcp_key_name: text,
    source_mcp_scope: text,
    error_summary: text.describe('The first 200 characters of the error.'),
    error_code: z.enum(executionErrorCodes).nullable(),
    agent_deleted: z.boolean().optional().describe('Present only if true, for admins.'),
    redacted: z.boolean().optional().describe('Message, response and log are withheld.'),
  })
  .meta({ id: 'ExecutionSummary' })
export type ExecutionSummary = z.output<typeof ExecutionSummary>

export const ToolCall = z.object({
  id: z.string(),
  tool: z.string(),
  input_summary: z.string(),
  success: z.boolean().nullable(),
  duration_ms: count,
  started_at: Timestamp,
})
export type ToolCall = z.output<typeof ToolCall>

export const ModelCall = z
  .object({
    id: z.string(),
    provider: ModelProvider,
    model: text,
    status: count.describe('HTTP status of the provider; null when it did not respond.'),
    started_at: Timestamp,
    first_token_ms: count.describe('Time to first token; null for a response that was not streamed.'),
    duration_ms: integer,
    input_tokens: integer,
    output_tokens: integer,
    cache_creation_tokens: integer,
    cache_read_tokens: integer,
    cost: Money,
    cost_estimated: CostEstimated,
  })
  .meta({ id: 'ModelCall' })
export type ModelCall = z.output<typeof ModelCall>

export const CompactEvent = z.object({ at: z.string(), before_tokens: count, after_tokens: count })
export type CompactEvent = z.output<typeof CompactEvent>

export const ExecutionDetails = ExecutionSummary.extend({
  principal: text.describe('On whose behalf the run works, in words; null for runs of older releases.'),
  response: text,
  error: text,
  terminal_reason: text,
  skip_reason: text,
  parked: z.boolean().describe('Claimed by the agent, but the runtime has not started yet.'),
  tool_calls: z.array(ToolCall),
  compact_events: z.array(CompactEvent),
  timeout_seconds: integer,
  allowed_tools: z.array(z.string()).nullable(),
  model: text.describe('As dispatched.'),
  system_prompt: text.describe("Text that the task added to the agent's own prompt."),
  attachment_count: integer.describe('Number of attached files. They are kept until the run has ended.'),
  runtime_session_id: text,
  num_turns: count,
  tool_count: count,
  validated_at: time,
  validation_execution_id: text,
  validates_execution_id: text,
  validation_report: z.unknown(),
  delivery: z.unknown(),
  log_removed_at: LogRemovedAt,
}).meta({ id: 'ExecutionDetails' })
export type ExecutionDetails = z.output<typeof ExecutionDetails>

/** One line of a transcript, in the forms of `link/transcript.ts`; new forms may appear. */
const Line = z.looseObject({ type: z.string(), _n: integer, _ts: Timestamp })

export const ExecutionLog = z.object({
  execution_id: id,
  agent_name: z.string(),
  has_log: z.boolean().describe('False before the first line, and after retention removed the transcript.'),
  log_removed_at: LogRemovedAt,
  log: z.array(Line),
  status: z.enum(executionStatuses),
  started_at: time,
  completed_at: time,
  message: text,
  redacted: z.boolean().optional(),
})
export type ExecutionLog = z.output<typeof ExecutionLog>

export const RunningExecutions = z.object({
  executions: z.array(
    z.object({
      execution_id: id,
      started_at: time,
      status: z.literal('running'),
      parked: z.boolean(),
      metadata: z.object({
        type: z.enum(['chat', 'task']),
        triggered_by: z.enum(triggers),
        message_preview: text,
      }),
    }),
  ),
})
export type RunningExecutions = z.output<typeof RunningExecutions>

export const terminateWords = [
  'terminated',
  'cancelled_while_queued',
  'cancelled_while_parked',
  'already_finished',
] as const
export const Terminated = z.object({
  status: z.enum(terminateWords),
  execution_id: id,
  returncode: integer.nullish(),
  delivered: z
    .literal(false)
    .optional()
    .describe('The agent was offline; it learns about the termination when it reconnects.'),
})
export type Terminated = z.output<typeof Terminated>

/** Usage and outcome of a run, without its response. */
export const RunMetadata = z.object({
  cost_usd: Money.nullable(),
  cost_estimated: CostEstimated,
  duration_ms: count,
  num_turns: count,
  tool_count: integer,
  session_id: text,
  input_tokens: integer,
  output_tokens: integer,
  cache_creation_tokens: integer,
  cache_read_tokens: integer,
  context_window: count,
  context_tokens: count,
  model_used: text,
  compact_events: z.array(CompactEvent),
})
export type RunMetadata = z.output<typeof RunMetadata>

const ExecutionParams = z.object({ name: z.string(), id: z.string() })
const readers = ['ops', 'connector'] as const

/** Runs that lists of a schedule's runs omit by default. */
export const IncludedRuns = z.enum(['validations']).optional()

export const listAgentExecutions = endpoint({
  id: 'listAgentExecutions',
  method: 'GET',
  path: '/api/agents/{name}/executions',
  summary: 'Runs of an agent, newest first',
  description:
    'Paged; `X-Total-Count` has the total. `of_schedules`: only runs of its schedules, with any trigger but validations; `include=validations` adds those.',
  tag,
  access: { who: 'access', scopes: ['ops'] },
  params: AgentParams,
  query: z.object({
    limit: queryInteger(1, 200, 50),
    offset: queryInteger(0, 999_999_999, 0),
    status: z.string().max(50).optional(),
    triggered_by: z.string().max(50).optional(),
    error: ErrorFilter,
    of_schedules: queryBoolean(false),
    include: IncludedRuns,
  }),
  returns: z.array(ExecutionSummary),
  replyHeaders: ['X-Total-Count'],
  fails: ['agent_not_found', 'unknown_filter'],
})

export const listRunningExecutions = endpoint({
  id: 'listRunningExecutions',
  method: 'GET',
  path: '/api/agents/{name}/executions/running',
  summary: 'Runs in progress of an agent',
  tag,
  access: { who: 'access', scopes: ['ops'] },
  params: AgentParams,
  returns: RunningExecutions,
  fails: ['agent_not_found'],
})

export const getExecution = endpoint({
  id: 'getExecution',
  method: 'GET',
  path: '/api/agents/{name}/executions/{id}',
  summary: 'Get a run with its response',
  tag,
  access: { who: 'access', scopes: readers, guests: true },
  params: ExecutionParams,
  returns: ExecutionDetails,
  fails: ['agent_not_found', 'execution_not_found'],
})

export const getExecutionLog = endpoint({
  id: 'getExecutionLog',
  method: 'GET',
  path: '/api/agents/{name}/executions/{id}/log',
  summary: 'The transcript of a run; grows while it runs',
  tag,
  access: { who: 'access', scopes: ['ops'], guests: true },
  params: ExecutionParams,
  returns: ExecutionLog,
  fails: ['agent_not_found', 'execution_not_found'],
})

export const streamExecution = endpoint({
  id: 'streamExecution',
  method: 'GET',
  path: '/api/agents/{name}/executions/{id}/stream',
  summary: 'The transcript of a run as it grows',
  description:
    'Server-sent events: `id` is the line number, `data` one transcript object. `Last-Event-ID` or `after` resumes after that line. With `partials=true`, pieces of the current block (`{"type":"partial"}`) arrive without an id; the first has the text so far. `at` is the number of characters before the piece. The whole block follows as a line. The last event is `{"type":"stream_end"}`; a finished run replays and ends, a queued one waits. If retention removed the transcript, the stream has only this event, with `log_removed_at`.',
  tag,
  access: { who: 'access', scopes: readers, guests: true },
  params: ExecutionParams,
  query: z.object({ after: queryInteger(0, 999_999_999, 0), partials: queryBoolean(false) }),
  streams: ['text/event-stream'],
  headers: ['Last-Event-ID'],
  replyHeaders: ['X-Execution-Id'],
  fails: ['agent_not_found', 'execution_not_found'],
})

export const terminateExecution = endpoint({
  id: 'terminateExecution',
  method: 'POST',
  path: '/api/agents/{name}/executions/{id}/terminate',
  summary: 'Stop a run in any state',
  tag,
  access: { who: 'access', scopes: ['connector'], guests: true },
  params: ExecutionParams,
  returns: Terminated,
  fails: ['agent_not_found', 'execution_not_found'],
  audit: { type: 'execution', action: 'terminate' },
})

export const ResultCallback = z.object({
  ...resultFields,
  execution_log: z
    .array(z.looseObject({ type: z.string().min(1).max(64) }))
    .max(200_000)
    .nullish(),
})

export const reportExecutionResult = endpoint({
  id: 'reportExecutionResult',
  method: 'POST',
  path: '/api/agents/{name}/executions/{id}/result',
  summary: 'Report the result of a run over HTTP',
  description: 'The agent program also sends it over its link; the result counts once.',
  tag,
  access: { who: 'agent', refuses: ['run'] },
  params: ExecutionParams,
  body: ResultCallback,
  bodyLimit: 50 * 1024 * 1024,
  maxValues: 500_000,
  returns: z.object({
    accepted: z.boolean(),
    reason: z.enum(['stale_claim', 'already_final']).optional(),
  }),
  fails: ['agent_not_found', 'execution_not_found', 'agent_identity_required', 'body_too_large'],
  audit: { type: 'execution', action: 'result' },
})
