import { z } from 'zod'
import { endpoint } from '../kit/endpoint.ts'
import { eventType } from '../kit/event.ts'
import { ModelOverride } from '../kit/model.ts'
import { AgentParams, Id, queryInteger, Timestamp, TimestampInput } from '../kit/primitives.ts'
import { AllowedTools, RunTimeout } from '../runs/request.ts'

const tag = 'Reminders'

/** Allowed distance of a reminder from now. */
export const minAheadSeconds = 60
export const maxAheadSeconds = 30 * 24 * 3600
export const maxPending = 25
export const maxPerDay = 100

export const CreateReminder = z
  .object({
    message: z
      .string()
      .min(1, 'must not be empty')
      .max(4_000)
      .refine((text) => text.trim() !== '', 'must not be blank'),
    fire_at: TimestampInput.nullish().transform((value) => value ?? null),
    delay_seconds: z
      .number()
      .int()
      .min(minAheadSeconds)
      .max(maxAheadSeconds)
      .nullish()
      .transform((value) => value ?? null),
    model: ModelOverride,
    timeout_seconds: RunTimeout.nullish().transform((value) => value ?? null),
    allowed_tools: AllowedTools.nullish().transform((value) => value ?? null),
  })
  .refine(({ fire_at, delay_seconds }) => (fire_at === null) !== (delay_seconds === null), {
    path: ['fire_at'],
    error: 'must have exactly one of fire_at and delay_seconds',
  })
export type CreateReminder = z.output<typeof CreateReminder>

export const reminderStatuses = ['pending', 'firing', 'fired', 'cancelled', 'failed'] as const
export type ReminderStatus = (typeof reminderStatuses)[number]

const text = z.string().nullable()
const time = Timestamp.nullable()

export const Reminder = z
  .object({
    id: Id,
    agent_name: z.string(),
    message: z.string(),
    fire_at: Timestamp,
    status: z.enum(reminderStatuses),
    autonomy_hold: z
      .boolean()
      .describe("The reminder is due, but the agent's autonomy is off. It fires when autonomy is on again."),
    model: text,
    timeout_seconds: z.number().int().nullable(),
    allowed_tools: z.array(z.string()).nullable(),
    origin_session_id: text.describe(
      'The conversation that created it and gets the result; null for people the agent is shared with.',
    ),
    execution_id: text,
    fire_attempts: z.number().int(),
    error: text,
    created_at: Timestamp,
    fired_at: time,
    cancelled_at: time,
  })
  .meta({ id: 'Reminder' })
export type Reminder = z.output<typeof Reminder>

export const createReminder = endpoint({
  id: 'createReminder',
  method: 'POST',
  path: '/api/agents/{name}/reminders',
  summary: 'Run a message once, at a time 60 seconds to 30 days ahead',
  description:
    'At most 25 pending reminders per agent and 100 new ones a day. Without `Idempotency-Key`, a request with the message and time of a pending reminder of the same caller returns that reminder.',
  tag,
  access: { who: 'owner' },
  params: AgentParams,
  body: CreateReminder,
  status: 201,
  returns: Reminder,
  headers: ['Idempotency-Key'],
  fails: [
    'agent_not_found',
    'invalid_model',
    'rate_limited',
    'daily_cap_reached',
    'request_in_progress',
    'created_resource_gone',
  ],
  audit: { type: 'execution', action: 'create_reminder' },
})

export const listReminders = endpoint({
  id: 'listReminders',
  method: 'GET',
  path: '/api/agents/{name}/reminders',
  summary: 'Reminders of an agent, soonest first',
  tag,
  access: { who: 'access' },
  params: AgentParams,
  query: z.object({
    status: z
      .string()
      .max(50)
      .optional()
      .transform((value) => value ?? 'pending')
      .describe('One status, or `all`.'),
    limit: queryInteger(1, 500, 100),
  }),
  returns: z.array(Reminder),
  fails: ['agent_not_found', 'unknown_filter'],
})

export const cancelReminder = endpoint({
  id: 'cancelReminder',
  method: 'POST',
  path: '/api/agents/{name}/reminders/{id}/cancel',
  summary: 'Cancel a pending reminder',
  tag,
  access: { who: 'owner' },
  params: z.object({ name: z.string(), id: z.string() }),
  returns: Reminder,
  fails: ['agent_not_found', 'not_found', 'already_finished'],
  audit: { type: 'execution', action: 'cancel_reminder' },
})

export const reminderFired = eventType({
  name: 'reminder.fired',
  stored: true,
  fields: z.object({ reminder_id: Id, execution_id: Id }),
})
