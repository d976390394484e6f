import { z } from 'zod'
import { endpoint } from '../kit/endpoint.ts'
import { eventType } from '../kit/event.ts'
import { ModelOverride } from '../kit/model.ts'
import { AgentParams, Id, Money, messageBodyLimit, Timestamp } from '../kit/primitives.ts'
import { CostEstimated } from './cost.ts'
import { executionErrorCodes } from './executions.ts'
import { AllowedTools, MessageText, SystemPrompt } from './request.ts'

const tag = 'Fan-out'

export const maxTasks = 50
export const maxConcurrency = 10
export const defaultConcurrency = 3

const TaskId = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be 1 to 64 characters: letters, digits, "_" and "-"')

const Tasks = z
  .array(
    z.object({
      id: TaskId.nullish().describe(
        'Unique within the fan-out. Defaults to `t` and the position, from 1; `t1_2` when another task has the id `t1`.',
      ),
      message: MessageText,
    }),
  )
  .min(1, 'must have 1 to 50 tasks')
  .max(maxTasks, 'must have 1 to 50 tasks')
  .superRefine((tasks, context) => {
    const indexById = new Map<string, number>()
    for (const [index, { id }] of tasks.entries()) {
      if (id == null) continue
      const earlier = indexById.get(id)
      if (earlier === undefined) indexById.set(id, index)
      else {
        const message = `"${id}" is already the id of tasks[${earlier}]`
        context.addIssue({ code: 'custom', path: [index, 'id'], message })
      }
    }
  })
  .transform((tasks) => {
    const given = new Set(tasks.map(({ id }) => id))
    return tasks.map(({ id, message }, index) => ({ id: id ?? freeId(index + 1, given), message }))
  })

/** Returns an id that the request does not use. The position keeps generated ids distinct. */
function freeId(position: number, given: ReadonlySet<unknown>): string {
  let id = `t${position}`
  for (let attempt = 2; given.has(id); attempt += 1) id = `t${position}_${attempt}`
  return id
}

export const FanOutBody = z.object({
  tasks: Tasks,
  max_concurrency: z
    .number()
    .int()
    .min(1)
    .max(maxConcurrency)
    .nullish()
    .transform((value) => value ?? defaultConcurrency)
    .describe('Maximum of tasks of this fan-out that wait for a slot or run at the same time.'),
  timeout_seconds: z
    .number()
    .int()
    .min(10)
    .max(86_400)
    .nullish()
    .describe(
      "Limits only how long the reply waits: open tasks keep running. Default: the agent's timeout for each round of tasks, plus a minute.",
    ),
  async_mode: z
    .boolean()
    .nullish()
    .transform((value) => value ?? false),
  model: ModelOverride,
  system_prompt: SystemPrompt.nullish().describe("Appended to the agent's own; at most 32 KiB."),
  allowed_tools: AllowedTools.nullish(),
})
export type FanOutBody = z.output<typeof FanOutBody>

export const fanOutStatuses = [
  'accepted',
  'running',
  'completed',
  'partial',
  'failed',
  'deadline_exceeded',
] as const
export type FanOutStatus = (typeof fanOutStatuses)[number]

export const fanOutTaskStatuses = ['queued', 'running', 'completed', 'failed', 'cancelled'] as const
export type FanOutTaskStatus = (typeof fanOutTaskStatuses)[number]

const text = z.string().nullable()
const integer = z.number().int()
const count = integer.nullable()
const time = Timestamp.nullable()

export const FanOutResult = z.object({
  id: z.string(),
  execution_id: Id,
  status: z.enum(fanOutTaskStatuses),
  response: text,
  error: text,
  error_code: z.enum(executionErrorCodes).nullable(),
  cost: Money.nullable().describe('US dollars.'),
  cost_estimated: CostEstimated,
  context_used: count,
  duration_ms: count,
  model_used: text,
  started_at: time,
  completed_at: time,
})
export type FanOutResult = z.output<typeof FanOutResult>

export const FanOut = z
  .object({
    fan_out_id: Id,
    agent_name: z.string(),
    status: z
      .enum(fanOutStatuses)
      .describe(
        '`completed`: all succeeded; `failed`: none did; `partial`: some did. `accepted` is the asynchronous receipt, `deadline_exceeded` a reply that waited too long.',
      ),
    total: integer,
    completed: integer,
    failed: integer,
    running: integer,
    queued: integer,
    cancelled: integer,
    created_at: Timestamp,
    results: z
      .array(FanOutResult)
      .describe('One entry per task from the start, in the order of the request.'),
  })
  .meta({ id: 'FanOut' })
export type FanOut = z.output<typeof FanOut>

export const startFanOut = endpoint({
  id: 'startFanOut',
  method: 'POST',
  path: '/api/agents/{name}/fan-out',
  summary: 'Run up to 50 tasks in parallel',
  description:
    'Accepts all tasks or none. The reply waits until every task has ended or `timeout_seconds` have passed. With `async_mode` it returns immediately; poll the fan-out. Neither a failed task nor a client disconnect stops the other tasks.',
  tag,
  access: { who: 'access', guests: true },
  params: AgentParams,
  body: FanOutBody,
  bodyLimit: messageBodyLimit,
  returns: FanOut,
  headers: ['Idempotency-Key'],
  fails: [
    'agent_not_found',
    'agent_not_running',
    'invalid_model',
    'body_too_large',
    'queue_full',
    'request_in_progress',
    'circuit_open',
    'inter_agent_depth_exceeded',
  ],
  audit: { type: 'execution', action: 'fan_out' },
})

export const getFanOut = endpoint({
  id: 'getFanOut',
  method: 'GET',
  path: '/api/agents/{name}/fan-out/{fan_out_id}',
  summary: 'A fan-out with the current state of its tasks',
  tag,
  access: { who: 'access', guests: true },
  params: z.object({ name: z.string(), fan_out_id: z.string() }),
  returns: FanOut,
  fails: ['agent_not_found', 'not_found'],
})

export const fanOutCompleted = eventType({
  name: 'fan_out.completed',
  stored: true,
  fields: z.object({
    fan_out_id: Id,
    status: z.enum(['completed', 'partial', 'failed']),
    total: integer,
    completed: integer,
    failed: integer,
  }),
})
