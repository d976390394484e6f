import { z } from 'zod'
import { endpoint } from '../kit/endpoint.ts'
import { eventType } from '../kit/event.ts'
import { ModelOverride } from '../kit/model.ts'
import { AgentParams, Id, queryInteger, Timestamp } from '../kit/primitives.ts'
import { ExecutionSummary, executionStatuses, IncludedRuns } from '../runs/executions.ts'
import { AllowedTools, MessageText } from '../runs/request.ts'
import { mostMisfires } from './scheduler-calls.ts'

const tag = 'Schedules'

/** What happens to due times that the scheduler missed by at most an hour. */
export const misfirePolicies = ['run_once', 'skip', 'run_all'] as const
export type MisfirePolicy = (typeof misfirePolicies)[number]

/** Outcomes of a due time. */
export const fireOutcomes = ['fired', 'skipped', 'suppressed', 'missed'] as const
export type FireOutcome = (typeof fireOutcomes)[number]

/** At most 32 KiB of UTF-8. */
const ValidationPrompt = z
  .string()
  .refine((text) => new TextEncoder().encode(text).length <= 32 * 1024, 'must be at most 32 KiB')

const fields = {
  name: z
    .string()
    .min(1, 'must not be empty')
    .max(200)
    .refine((text) => text.trim() !== '', 'must not be blank'),
  cron_expression: z
    .string()
    .describe('Five fields: minute hour day-of-month month day-of-week; otherwise 400.'),
  message: MessageText,
  enabled: z.boolean(),
  timezone: z.string().max(100).describe('An IANA zone or alias; otherwise 400.'),
  misfire_policy: z
    .enum(misfirePolicies)
    .describe(
      `For due times missed by at most an hour: \`run_once\` fires the newest, \`run_all\` all (at most ${mostMisfires}), \`skip\` none.`,
    ),
  max_retries: z.number().int().min(0).max(5),
  retry_delay_seconds: z.number().int().min(30).max(600),
  validation_enabled: z.boolean(),
  validation_timeout_seconds: z.number().int().min(30).max(600),
  undo_failed: z
    .boolean()
    .describe('Whether a run with the rights of the owner is undone if it or its validation fails.'),
}
/** Null clears these fields; it is invalid for all others. */
const clearable = {
  description: z.string().max(2000).nullish(),
  timeout_seconds: z
    .number()
    .int()
    .min(1)
    .nullish()
    .describe("Null uses the agent's timeout, which is also the maximum."),
  allowed_tools: AllowedTools.nullish().describe('Null allows all tools.'),
  model: ModelOverride,
  deliver_to_workspace_email: z
    .string()
    .max(1000)
    .nullish()
    .describe(
      'Recipient: their Workspace chat gets the output of each run. 400 for an invalid e-mail address.',
    ),
  validation_prompt: ValidationPrompt.nullish(),
}

export const CreateSchedule = z.object({
  name: fields.name,
  cron_expression: fields.cron_expression,
  message: fields.message,
  enabled: fields.enabled.default(true),
  timezone: fields.timezone.default('UTC'),
  misfire_policy: fields.misfire_policy.default('run_once'),
  max_retries: fields.max_retries.default(0),
  retry_delay_seconds: fields.retry_delay_seconds.default(60),
  validation_enabled: fields.validation_enabled.default(false),
  validation_timeout_seconds: fields.validation_timeout_seconds.default(120),
  undo_failed: fields.undo_failed.default(false),
  ...clearable,
})
export type CreateSchedule = z.output<typeof CreateSchedule>

/** Omitted fields stay unchanged. */
export const UpdateSchedule = z.object(fields).partial().extend(clearable)
export type UpdateSchedule = z.output<typeof UpdateSchedule>

const text = z.string().nullable()
const time = Timestamp.nullable()

export const LastFire = z.object({
  due_at: Timestamp,
  outcome: z.enum(fireOutcomes),
  reason: text,
})
export type LastFire = z.output<typeof LastFire>

export const Schedule = z
  .object({
    id: Id,
    agent_name: z.string(),
    name: z.string(),
    description: text,
    cron_expression: z.string(),
    message: z.string(),
    enabled: z.boolean(),
    timezone: z.string(),
    misfire_policy: z.enum(misfirePolicies),
    timeout_seconds: z.number().int().nullable(),
    allowed_tools: z.array(z.string()).nullable(),
    model: text,
    deliver_to_workspace_email: text,
    max_retries: z.number().int(),
    retry_delay_seconds: z.number().int(),
    validation_enabled: z.boolean(),
    validation_prompt: text,
    validation_timeout_seconds: z.number().int(),
    undo_failed: z.boolean(),
    next_run_at: time.describe('Null while the schedule is disabled or invalid.'),
    last_run_at: time,
    last_run_status: z.enum(executionStatuses).nullable(),
    last_fire: LastFire.nullable().describe('Outcome of the newest due time.'),
    registration_error: text.describe(
      '`Invalid cron expression` or `Invalid timezone`: the schedule never fires.',
    ),
    disabled_reason: text.describe('Why the platform disabled it; null after the next change of `enabled`.'),
    webhook_enabled: z.boolean(),
    created_by: z.string(),
    created_at: Timestamp,
    updated_at: Timestamp,
    deleted_at: time,
  })
  .meta({ id: 'Schedule' })
export type Schedule = z.output<typeof Schedule>

export const ScheduleParams = z.object({ name: z.string(), id: z.string() })
const notFound = ['agent_not_found', 'schedule_not_found'] as const
const badFields = [
  'invalid_cron_expression',
  'invalid_timezone',
  'invalid_recipient',
  'schedule_timeout_exceeds_agent_cap',
  'delivery_target_requires_owner',
  'invalid_model',
] as const

export const listSchedules = endpoint({
  id: 'listSchedules',
  method: 'GET',
  path: '/api/agents/{name}/schedules',
  summary: 'Schedules of an agent, newest first',
  tag,
  access: { who: 'access' },
  params: AgentParams,
  returns: z.array(Schedule),
  fails: ['agent_not_found'],
})

export const createSchedule = endpoint({
  id: 'createSchedule',
  method: 'POST',
  path: '/api/agents/{name}/schedules',
  summary: 'Create a schedule',
  description:
    'Requires access to the agent; otherwise 403 `agent_access_denied`. An agent creates schedules only for itself.',
  tag,
  access: { who: 'any' },
  params: AgentParams,
  body: CreateSchedule,
  status: 201,
  returns: Schedule,
  fails: ['agent_not_found', 'agent_access_denied', 'agent_not_permitted', ...badFields],
  audit: { type: 'configuration', action: 'create_schedule' },
})

export const getSchedule = endpoint({
  id: 'getSchedule',
  method: 'GET',
  path: '/api/agents/{name}/schedules/{id}',
  summary: 'Get a schedule',
  tag,
  access: { who: 'access' },
  params: ScheduleParams,
  returns: Schedule,
  fails: notFound,
})

export const updateSchedule = endpoint({
  id: 'updateSchedule',
  method: 'PUT',
  path: '/api/agents/{name}/schedules/{id}',
  summary: 'Change a schedule',
  description:
    'Omitted fields stay unchanged; null clears an optional field. For the owner, admins and the creator; `enabled` requires the owner or an admin. Everyone with access to the agent may set `deliver_to_workspace_email` to their own address or clear it.',
  tag,
  access: { who: 'access' },
  params: ScheduleParams,
  body: UpdateSchedule,
  returns: Schedule,
  fails: [...notFound, 'owner_required', ...badFields],
  audit: { type: 'configuration', action: 'update_schedule' },
})

export const deleteSchedule = endpoint({
  id: 'deleteSchedule',
  method: 'DELETE',
  path: '/api/agents/{name}/schedules/{id}',
  summary: 'Delete a schedule',
  description:
    'It stops firing immediately, its webhook is revoked and its pending retries are cancelled. Its history stays; an admin can recover the schedule until it is purged.',
  tag,
  access: { who: 'owner' },
  params: ScheduleParams,
  status: 204,
  fails: notFound,
  audit: { type: 'configuration', action: 'delete_schedule' },
})

function switching(word: 'enable' | 'disable') {
  return {
    method: 'POST',
    path: `/api/agents/{name}/schedules/{id}/${word}`,
    tag,
    access: { who: 'owner' },
    params: ScheduleParams,
    returns: z.object({ status: z.enum(['enabled', 'disabled']), schedule_id: Id }),
    fails: notFound,
    audit: { type: 'configuration', action: `${word}_schedule` },
  } as const
}

export const enableSchedule = endpoint({
  ...switching('enable'),
  id: 'enableSchedule',
  summary: 'Enable a schedule',
  description:
    "Rejected if the schedule's timeout is above the agent's execution timeout, which may have been lowered while the schedule was disabled.",
  fails: [...notFound, 'schedule_timeout_exceeds_agent_cap'],
})

export const disableSchedule = endpoint({
  id: 'disableSchedule',
  summary: 'Disable a schedule; manual triggers and webhooks still work',
  ...switching('disable'),
})

export const triggerSchedule = endpoint({
  id: 'triggerSchedule',
  method: 'POST',
  path: '/api/agents/{name}/schedules/{id}/trigger',
  summary: 'Fire a schedule now',
  description:
    'Works for disabled schedules and with autonomy off, and skips the pre-check hook. Each call creates a separate run in the queue.',
  tag,
  access: { who: 'owner' },
  params: ScheduleParams,
  returns: z.object({
    status: z.literal('triggered'),
    schedule_id: Id,
    execution_id: Id,
    schedule_name: z.string(),
    agent_name: z.string(),
    message: z.string(),
  }),
  fails: [
    ...notFound,
    'agent_not_running',
    'queue_full',
    'circuit_open',
    'scheduler_unavailable',
    'scheduler_timeout',
  ],
  audit: { type: 'execution', action: 'trigger_schedule' },
})

export const listScheduleExecutions = endpoint({
  id: 'listScheduleExecutions',
  method: 'GET',
  path: '/api/agents/{name}/schedules/{id}/executions',
  summary: 'Runs of a schedule, newest first',
  description:
    'Paged; `X-Total-Count` has the total. Validations of the runs are omitted unless `include=validations`.',
  tag,
  access: { who: 'access' },
  params: ScheduleParams,
  query: z.object({
    limit: queryInteger(1, 200, 50),
    offset: queryInteger(0, 999_999_999, 0),
    include: IncludedRuns,
  }),
  returns: z.array(ExecutionSummary),
  replyHeaders: ['X-Total-Count'],
  fails: notFound,
})

export const listNextRuns = endpoint({
  id: 'listNextRuns',
  method: 'GET',
  path: '/api/agents/{name}/schedules/{id}/next',
  summary: 'The next due times of a schedule',
  description: 'Also for a disabled schedule; empty for an invalid one.',
  tag,
  access: { who: 'access' },
  params: ScheduleParams,
  query: z.object({ count: queryInteger(1, 100, 5) }),
  returns: z.object({
    schedule_id: Id,
    timezone: z.string(),
    next: z.array(Timestamp),
  }),
  fails: notFound,
})

const changed = z.object({ schedule_id: Id, schedule_name: z.string(), enabled: z.boolean() })
export const scheduleCreated = eventType({ name: 'schedule.created', stored: true, fields: changed })
export const scheduleUpdated = eventType({ name: 'schedule.updated', stored: true, fields: changed })
export const scheduleDeleted = eventType({ name: 'schedule.deleted', stored: true, fields: changed })
