import { z } from 'zod'
import { endpoint } from '../kit/endpoint.ts'
import { eventType } from '../kit/event.ts'
import { ModelOverride } from '../kit/model.ts'
import { Id, Money, queryInteger, Timestamp, TimestampInput } from '../kit/primitives.ts'
import { CostEstimated } from '../runs/cost.ts'
import { executionStatuses, triggers } from '../runs/executions.ts'
import { AllowedTools, MessageText, RunTimeout } from '../runs/request.ts'
import { executeTaskAt, executeTasksAt, scheduleChangesAt, validateExecutionAt } from './scheduler-calls.ts'
import { fireOutcomes, misfirePolicies, ScheduleParams } from './schedules.ts'

const tag = 'Schedules'
const internal = { tag: 'Internal', access: { who: 'internal' } } as const
const text = z.string().nullable()
const count = z.number().int().nullable()
const time = Timestamp.nullable()

/** What became of one due time. */
export const Fire = z
  .object({
    due_at: Timestamp,
    outcome: z.enum(fireOutcomes),
    reason: text.describe('Why nothing ran, or what a run that was not handed out failed of.'),
    execution_id: text,
    recorded_at: Timestamp,
  })
  .meta({ id: 'Fire' })
export type Fire = z.output<typeof Fire>

export const listFires = endpoint({
  id: 'listFires',
  method: 'GET',
  path: '/api/agents/{name}/schedules/{id}/fires',
  summary: 'What became of the due times of a schedule, newest first',
  description:
    'Of times that the clock was due at; what is triggered by hand or by a webhook is an execution of its own. Several times that passed out of reach of the grace are one entry, at the newest of them, whose reason counts them.',
  tag,
  access: { who: 'access' },
  params: ScheduleParams,
  query: z.object({ limit: queryInteger(1, 200, 50) }),
  returns: z.array(Fire),
  fails: ['agent_not_found', 'schedule_not_found'],
})

export const SchedulerStatus = z
  .object({
    running: z.boolean().describe('A scheduler has looked at its timetable within the last half minute.'),
    leader: text.describe('Host and process of the scheduler that leads.'),
    jobs_count: z.number().int().describe('Schedules that have a due time.'),
    next_due_at: time,
    uptime_seconds: count.describe('For how long the leader has led.'),
    last_check_at: time,
  })
  .meta({ id: 'SchedulerStatus' })
export type SchedulerStatus = z.output<typeof SchedulerStatus>

export const getSchedulerStatus = endpoint({
  id: 'getSchedulerStatus',
  method: 'GET',
  path: '/api/agents/scheduler/status',
  summary: 'Whether the scheduler works',
  tag,
  access: { who: 'admin' },
  returns: SchedulerStatus,
})

export const ExecuteTask = z.object({
  agent_name: z.string().min(1).max(100),
  message: MessageText.optional().describe('Of a fire it is the message of the schedule.'),
  triggered_by: z
    .enum(triggers)
    .default('schedule')
    .describe("Of a caller on the agents' network it is `agent` or `self_task`, whatever is said."),
  async_mode: z.boolean().default(false),
  execution_id: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be 1 to 64 characters: letters, digits, "_" and "-"')
    // A run of that name could not be asked for: the list of running ones has its path.
    .refine((id) => id !== 'running', 'must not be "running"')
    .nullish()
    .describe('The id that its record gets; the same again is answered with the run that has it.'),
  schedule_id: Id.nullish(),
  due_at: TimestampInput.nullish().describe('With `schedule_id`: the due time, which fires at most once.'),
  model: ModelOverride,
  timeout_seconds: RunTimeout.nullish(),
  allowed_tools: AllowedTools.nullish(),
  schedule_name: z.string().max(200).nullish(),
  schedule_cron: z.string().max(1000).nullish(),
  schedule_next_run: TimestampInput.nullish(),
  attempt: z.number().int().min(1).max(6).nullish(),
  deliver_to_workspace_email: z.string().max(1000).nullish(),
})
export type ExecuteTask = z.output<typeof ExecuteTask>

const AcceptedExecution = z.object({
  status: z.literal('accepted'),
  execution_id: Id,
  async_mode: z.literal(true),
  idempotent_replay: z.boolean().optional(),
})
const NotFired = z.object({
  status: z.enum(['skipped', 'suppressed', 'missed']),
  reason: z.string(),
  execution_id: Id.optional(),
})
const EndedExecution = z.object({
  execution_id: Id,
  status: z.enum(executionStatuses),
  response: text,
  cost: Money.nullable(),
  cost_estimated: CostEstimated,
  context_used: count,
  context_max: count,
  session_id: text,
  error: text,
})
const NotTaken = z.object({
  status: z.literal('refused'),
  error: z.string(),
  http_status: z.number().int().describe('As the same task would be answered by itself.'),
})
export const ExecuteTaskReply = z.union([AcceptedExecution, NotFired, EndedExecution])
export type ExecuteTaskReply = z.output<typeof ExecuteTaskReply>

export const executeTask = endpoint({
  id: 'executeTask',
  ...executeTaskAt,
  summary: 'Run a task, for the scheduler and for agents',
  description:
    "With `schedule_id` and `due_at` it is a fire of the clock: it goes through the gates of the schedule as it is stored, and the same due time again is answered as the first time. On the agents' network the caller's own key is the bearer, and the permissions matrix decides.",
  ...internal,
  body: ExecuteTask,
  returns: ExecuteTaskReply,
  headers: ['Idempotency-Key'],
  fails: [
    'not_authenticated',
    'agent_identity_required',
    'agent_not_permitted',
    'agent_not_found',
    'schedule_not_found',
    'agent_not_running',
    'invalid_model',
    'queue_full',
    'circuit_open',
    'inter_agent_depth_exceeded',
    'request_in_progress',
    'conflict',
  ],
})

/** At once: what a busy minute has more of comes in several calls. */
export const mostTasksTogether = 500
/** So many seconds before their time tasks are taken, and held until it has come. */
export const takenAheadSeconds = 5

export const ExecuteTasks = z.object({
  tasks: z
    .array(ExecuteTask.extend({ schedule_id: Id, due_at: TimestampInput }))
    .min(1)
    .max(mostTasksTogether),
  rehearsal: z
    .boolean()
    .default(false)
    .describe(
      'Shortly before they are due: everything is got ready, nothing is kept, and there are no results.',
    ),
})
export type ExecuteTasks = z.output<typeof ExecuteTasks>
export const ExecuteTasksReply = z.object({
  results: z.array(z.union([AcceptedExecution, NotFired, NotTaken])),
})
export type ExecuteTasksReply = z.output<typeof ExecuteTasksReply>

export const executeTasks = endpoint({
  id: 'executeTasks',
  ...executeTasksAt,
  summary: 'Fires of the clock that are due together',
  description:
    'Each is decided as `executeTask` decides it and fails by itself; nobody waits for the end of a run. The results stand in the order of the tasks. What is handed over up to 5 s ahead of its time is held, and decided when the last of it is due, by what is true then; what is earlier is refused.',
  ...internal,
  body: ExecuteTasks,
  returns: ExecuteTasksReply,
  fails: ['conflict'],
})

/** As much of a schedule as the scheduler has to know. */
export const ScheduleChange = z.object({
  id: Id,
  agent_id: Id,
  agent_name: z.string(),
  name: z.string(),
  cron_expression: z.string(),
  timezone: z.string(),
  misfire_policy: z.enum(misfirePolicies),
  armed_at: Timestamp.describe('Due times count from here on.'),
  active: z.boolean().describe('False: disabled, deleted or of an agent that is gone; forget it.'),
  position: z.number().int(),
})
export type ScheduleChange = z.output<typeof ScheduleChange>

/** As much of a reminder as whoever keeps the clock has to know. */
export const DueReminder = z.object({
  id: Id,
  agent_id: Id,
  agent_name: z.string(),
  fire_at: Timestamp,
  fire_attempts: z.number().int(),
})
export type DueReminder = z.output<typeof DueReminder>

export const scheduleChanges = endpoint({
  id: 'scheduleChanges',
  ...scheduleChangesAt,
  summary: 'Schedules that changed after a position, for the scheduler',
  description:
    'In the order of their positions, at most 200; `position` is where to go on. `reminders` are the pending ones of the next minute, whatever the position, soonest first and at most 200; those that are overdue belong to agents whose autonomy is off. The API itself fires them.',
  ...internal,
  query: z.object({ after: queryInteger(0, 999_999_999, 0) }),
  returns: z.object({
    position: z.number().int(),
    schedules: z.array(ScheduleChange),
    reminders: z.array(DueReminder),
  }),
})

export const preCheckAgent = endpoint({
  id: 'preCheckAgent',
  method: 'POST',
  path: '/api/internal/agents/{n}/pre-check',
  summary: "Ask an agent's pre-check hook",
  ...internal,
  params: z.object({ n: z.string() }),
  returns: z.object({
    hook_present: z.boolean(),
    exit_code: count,
    stdout: z.string(),
    stderr: z.string(),
  }),
  fails: ['agent_not_found', 'agent_stopped', 'agent_unresponsive'],
})

export const validateExecution = endpoint({
  id: 'validateExecution',
  ...validateExecutionAt,
  summary: 'Begin the validation of a run that waits for it',
  description: 'The same run again is answered with the validation that it has.',
  ...internal,
  body: z.object({ execution_id: Id }),
  returns: z.object({ status: z.literal('accepted'), validation_execution_id: Id }),
  fails: ['execution_not_found', 'conflict', 'agent_not_found', 'circuit_open'],
})

const fired = { schedule_id: Id, schedule_name: z.string() }
export const scheduleExecutionStarted = eventType({
  name: 'schedule.execution_started',
  stored: true,
  fields: z.object({ ...fired, execution_id: Id, triggered_by: z.enum(triggers) }),
})
export const scheduleExecutionCompleted = eventType({
  name: 'schedule.execution_completed',
  stored: true,
  fields: z.object({
    ...fired,
    execution_id: Id,
    status: z.enum(executionStatuses),
    error: z.string().optional(),
  }),
})
export const scheduleExecutionSkipped = eventType({
  name: 'schedule.execution_skipped',
  stored: true,
  fields: z.object({ ...fired, execution_id: Id.optional(), reason: z.string() }),
})
