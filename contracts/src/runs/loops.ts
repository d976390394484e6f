import { z } from 'zod'
import { maxTimeoutSeconds } from '../agents/settings.ts'
import { endpoint } from '../kit/endpoint.ts'
import { eventType } from '../kit/event.ts'
import { ModelOverride } from '../kit/model.ts'
import { AgentParams, Id, Money, queryInteger, Timestamp } from '../kit/primitives.ts'
import { CostEstimated } from './cost.ts'
import { AllowedTools, MessageText } from './request.ts'

const tag = 'Loops'

export const runPlaceholder = '{{run}}'
export const previousPlaceholder = '{{previous_response}}'
/** Characters from the end of a reply that replace the placeholder. */
export const previousResponseLength = 2_000
/** Each can grow to 2,000 characters, and the result must fit one message of the link. */
const maxPrevious = 100

export const maxRuns = 100

export const LoopBody = z.object({
  message: MessageText.refine(
    (text) => text.split(previousPlaceholder).length - 1 <= maxPrevious,
    `must not contain ${previousPlaceholder} more than ${maxPrevious} times`,
  ).describe(
    '`{{run}}` is the number of the run, from 1; `{{previous_response}}` the last 2,000 characters of the last successful reply, empty on run 1.',
  ),
  max_runs: z.number().int().min(1).max(maxRuns),
  stop_signal: z
    .string()
    .trim()
    .max(200)
    .nullish()
    .transform((text) => (text ? text : null))
    .describe('The loop ends when a reply contains this text; blank: no stop signal.'),
  delay_seconds: z.number().int().min(0).max(3600).default(0),
  timeout_per_run: z
    .number()
    .int()
    .min(10)
    .max(maxTimeoutSeconds)
    .nullish()
    .transform((value) => value ?? null)
    .describe(
      "Seconds. Default and maximum: the agent's execution timeout. The time left until the deadline limits it.",
    ),
  max_duration_seconds: z
    .number()
    .int()
    .min(1)
    .max(604_800)
    .nullish()
    .transform((value) => value ?? null)
    .describe(
      'Deadline in seconds from the start of the first run, checked between runs. Must not be below the `timeout_per_run` of the same request.',
    ),
  max_cost_usd: z
    .number()
    .positive()
    .max(1_000_000)
    .nullish()
    .transform((value) => value ?? null)
    .describe('US dollars. Checked between runs against `total_cost`, including estimates.'),
  no_progress_threshold: z
    .number()
    .int()
    .min(0)
    .refine((value) => value !== 1, 'must be 0 or at least 2')
    .default(3)
    .describe('This number of equal consecutive replies ends the loop; 0 means never.'),
  on_failure: z.enum(['abort', 'continue']).default('abort'),
  max_consecutive_failures: z
    .number()
    .int()
    .min(1)
    .max(100)
    .default(3)
    .describe('With `continue`: this number of consecutive failed runs ends the loop.'),
  model: ModelOverride,
  allowed_tools: AllowedTools.nullish().transform((value) => value ?? null),
})
export type LoopBody = z.output<typeof LoopBody>

export const loopStatuses = [
  'queued',
  'running',
  'completed',
  'completed_with_errors',
  'stopped',
  'failed',
  'interrupted',
] as const
export type LoopStatus = (typeof loopStatuses)[number]
/** Final statuses of a loop. */
export type LoopEnd = 'completed' | 'completed_with_errors' | 'stopped' | 'failed'

export const stopReasons = [
  'max_runs_reached',
  'stop_signal_matched',
  'user_stopped',
  'deadline_exceeded',
  'budget_exhausted',
  'no_progress',
  'error',
  'interrupted',
] as const
export type StopReason = (typeof stopReasons)[number]

export const loopRunStatuses = ['running', 'completed', 'failed', 'cancelled'] as const
export type LoopRunStatus = (typeof loopRunStatuses)[number]

const text = z.string().nullable()
const integer = z.number().int()
const count = integer.nullable()
const time = Timestamp.nullable()

export const LoopRun = z.object({
  run_number: integer,
  execution_id: Id,
  status: z.enum(loopRunStatuses).describe('`running` from its dispatch on, also while it waits for a slot.'),
  response_preview: text.describe('The first 500 characters.'),
  cost: Money.nullable().describe('US dollars.'),
  cost_estimated: CostEstimated,
  duration_ms: count,
  error: text,
  started_at: time.describe('When the agent claimed the run; null until then.'),
  completed_at: time,
})
export type LoopRun = z.output<typeof LoopRun>

export const Loop = z
  .object({
    loop_id: Id,
    agent_name: z.string(),
    status: z.enum(loopStatuses).describe('`queued` until the agent claims the first run.'),
    stop_reason: z.enum(stopReasons).nullable(),
    max_runs: integer,
    runs_completed: integer.describe('Runs that have ended with any outcome.'),
    failed_runs: integer,
    on_failure: z.enum(['abort', 'continue']),
    max_consecutive_failures: integer,
    stop_signal: text,
    delay_seconds: integer,
    timeout_per_run: count,
    max_duration_seconds: count,
    elapsed_seconds: count,
    max_cost_usd: Money.nullable(),
    total_cost: Money.describe('US dollars for all runs.'),
    cost_estimated: CostEstimated,
    no_progress_threshold: integer,
    model: text,
    allowed_tools: z.array(z.string()).nullable(),
    message: z.string(),
    last_response: text.describe('Response of the last successful run.'),
    error: text,
    runs: z.array(LoopRun),
    next_run_at: time,
    stop_requested_at: time,
    created_at: Timestamp,
    started_at: time,
    completed_at: time,
    started_by: text,
  })
  .meta({ id: 'Loop' })
export type Loop = z.output<typeof Loop>

export const startLoop = endpoint({
  id: 'startLoop',
  method: 'POST',
  path: '/api/agents/{name}/loops',
  summary: 'Run a message repeatedly, one run after another',
  description:
    'Replies immediately; poll the loop. Stop signal, budget, deadline and lack of progress are checked between runs. With a deadline, the timeout of a run is the time left, but at least 60 seconds or a shorter `timeout_per_run`. A run that times out at the deadline ends the loop with `deadline_exceeded`.',
  tag,
  access: { who: 'access' },
  params: AgentParams,
  body: LoopBody,
  status: 202,
  returns: z.object({
    loop_id: Id,
    status: z.literal('queued'),
    agent_name: z.string(),
    max_runs: integer,
    on_failure: z.enum(['abort', 'continue']),
  }),
  headers: ['Idempotency-Key'],
  fails: [
    'agent_not_found',
    'agent_not_running',
    'agent_not_permitted',
    'loop_timeout_exceeds_agent_cap',
    'loop_deadline_below_run_timeout',
    'invalid_model',
    'request_in_progress',
    'circuit_open',
    'inter_agent_depth_exceeded',
  ],
  audit: { type: 'execution', action: 'start_loop' },
})

export const listLoops = endpoint({
  id: 'listLoops',
  method: 'GET',
  path: '/api/agents/{name}/loops',
  summary: 'Loops of an agent, newest first',
  tag,
  access: { who: 'access' },
  params: AgentParams,
  query: z.object({ status: z.string().max(50).optional(), limit: queryInteger(1, 200, 50) }),
  returns: z.array(Loop),
  fails: ['agent_not_found', 'unknown_filter'],
})

const LoopParams = z.object({ loop_id: z.string() })

export const getLoop = endpoint({
  id: 'getLoop',
  method: 'GET',
  path: '/api/loops/{loop_id}',
  summary: 'A loop and its runs so far',
  description: 'For the person who started it and for callers with access to the agent.',
  tag,
  access: { who: 'any' },
  params: LoopParams,
  returns: Loop,
  fails: ['loop_not_found'],
})

export const stopLoop = endpoint({
  id: 'stopLoop',
  method: 'POST',
  path: '/api/loops/{loop_id}/stop',
  summary: 'Stop a loop; the current run finishes',
  tag,
  access: { who: 'any' },
  params: LoopParams,
  returns: z.object({ loop_id: Id, status: z.enum(['stopping', 'already_done']) }),
  fails: ['loop_not_found'],
  audit: { type: 'execution', action: 'stop_loop' },
})

export const loopRunCompleted = eventType({
  name: 'loop.run_completed',
  stored: true,
  fields: z.object({
    loop_id: Id,
    run_number: integer,
    execution_id: Id,
    status: z.enum(['completed', 'failed', 'cancelled']),
    cost: Money.nullable().optional(),
    cost_estimated: CostEstimated.optional(),
    duration_ms: count,
  }),
})

export const loopCompleted = eventType({
  name: 'loop.completed',
  stored: true,
  fields: z.object({
    loop_id: Id,
    status: z.enum(['completed', 'completed_with_errors', 'stopped', 'failed']),
    stop_reason: z.enum(stopReasons),
    runs_completed: integer,
    failed_runs: integer,
  }),
})
