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

/** The outcome of one due time. */
export const Fire = z
  .object({
    due_at: Timestamp,
    outcome: z.enum(fireOutcomes),
    reason: text.describe('Why no run was created, or why the run failed before it started.'),
    execution_id: text,
    recorded_at: Timestamp,
  })
  .meta({ id: 'Fire' })
export type Fire = z.output<typeof Fire>

export const listFires = endpoint({
  id: 'listFires',
  method: 'GET',
  path: '/api/agents/{name}/schedules/{id}/fires',
  summary: 'Outcomes of the due times of a schedule, newest first',
  description:
    'Only scheduled times; manual triggers and webhooks create executions without a fire. Several times missed by more than the grace period are one entry at the newest time; its reason has their number.',
  tag,
  access: { who: 'access' },
  params: ScheduleParams,
  query: z.object({ limit: queryInteger(1, 200, 50) }),
  returns: z.array(Fire),
  fails: ['agent_not_found', 'schedule_not_found'],
})

export const SchedulerStatus = z
  .object({
    running: z.boolean().describe('A scheduler has checked its timetable within the last 30 seconds.'),
    leader: text.describe('Host and process of the leading scheduler.'),
    jobs_count: z.number().int().describe('Number of schedules with a due time.'),
    next_due_at: time,
    uptime_seconds: count.describe('Time since the leader took over.'),
    last_check_at: time,
  })
  .meta({ id: 'SchedulerStatus' })
export type SchedulerStatus = z.output<typeof SchedulerStatus>

export const getSchedulerStatus = endpoint({
  id: 'getSchedulerStatus',
  method: 'GET',
  path: '/api/agents/scheduler/status',
  summary: 'Status of the scheduler',
  tag,
  access: { who: 'admin' },
  returns: SchedulerStatus,
})

export const ExecuteTask = z.object({
  agent_name: z.string().min(1).max(100),
  message: MessageText.optional().describe('For a fire: the message of the schedule.'),
  triggered_by: z
    .enum(triggers)
    .default('schedule')
    .describe("Calls from the agents' network always have `agent` or `self_task`."),
  async_mode: z.boolean().default(false),
  execution_id: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be 1 to 64 characters: letters, digits, "_" and "-"')
    // The list of running executions has this path, so a run with this id would be unreachable.
    .refine((id) => id !== 'running', 'must not be "running"')
    .nullish()
    .describe('The id of the new run. A repeated id returns the existing run.'),
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
const Rejected = z.object({
  status: z.literal('refused'),
  error: z.string(),
  http_status: z.number().int().describe('The status of the same task as a single request.'),
})
export const ExecuteTaskReply = z.union([AcceptedExecution, NotFired, EndedExecution])
export type ExecuteTaskReply = z.output<typeof ExecuteTaskReply>

export const executeTask = endpoint({
  id: 'executeTask',
  ...executeTaskAt,
  summary: 'Run a task, for the scheduler and for agents',
  description:
    'With `schedule_id` and `due_at` it is a scheduled fire: the gates of the stored schedule apply, and a repeated due time gets the first reply. Agents call it with their own key, and the permissions matrix applies; their trigger and schedule fields are ignored.',
  tag: 'Internal',
  access: { who: 'internal', alsoAdmits: 'agent' },
  body: ExecuteTask,
  returns: ExecuteTaskReply,
  headers: ['Idempotency-Key'],
  fails: [
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

/** Maximum per call; the scheduler splits busier minutes into several calls. */
export const mostTasksTogether = 500
/** Tasks are accepted this long before their due time and held until then. */
export const takenAheadSeconds = 5

export const ExecuteTasks = z.object({
  tasks: z
    .array(ExecuteTask.extend({ schedule_id: Id, due_at: TimestampInput }))
    .min(1)
    .max(mostTasksTogether),
  rehearsal: z
    .boolean()
    .default(false)
    .describe('Prepares caches shortly before the due time; stores nothing and returns no results.'),
})
export type ExecuteTasks = z.output<typeof ExecuteTasks>
export const ExecuteTasksReply = z.object({
  results: z.array(z.union([AcceptedExecution, NotFired, Rejected])),
})
export type ExecuteTasksReply = z.output<typeof ExecuteTasksReply>

export const executeTasks = endpoint({
  id: 'executeTasks',
  ...executeTasksAt,
  summary: 'Fire several due times together',
  description:
    'Each task is checked like in `executeTask` and can fail alone; the call does not wait for runs to end. Results have the order of the tasks. Tasks up to 5 s ahead of their due time are held until the last of them is due and checked then; earlier ones are rejected.',
  ...internal,
  body: ExecuteTasks,
  returns: ExecuteTasksReply,
  fails: ['conflict'],
})

/** The fields of a schedule that the scheduler needs. */
export const ScheduleChange = z.object({
  id: Id,
  agent_id: Id,
  agent_name: z.string(),
  name: z.string(),
  cron_expression: z.string(),
  timezone: z.string(),
  misfire_policy: z.enum(misfirePolicies),
  armed_at: Timestamp.describe('Only later due times count.'),
  active: z
    .boolean()
    .describe('False: disabled or deleted, or its agent is deleted. The scheduler drops it.'),
  position: z.number().int(),
})
export type ScheduleChange = z.output<typeof ScheduleChange>

/** The fields of a reminder that the scheduler needs. */
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
    'In the order of their positions, at most 200; continue after `position`. `reminders` are those pending for the next minute, regardless of the position, soonest first, at most 200. Overdue ones belong to agents whose autonomy is off. The API itself fires them.',
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
  summary: "Run an agent's pre-check hook",
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
  summary: 'Start the pending validation of a run',
  description: 'A repeated call returns the existing validation.',
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
