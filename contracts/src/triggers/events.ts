import { z } from 'zod'
import { endpoint } from '../kit/endpoint.ts'
import { eventType } from '../kit/event.ts'
import { AgentParams, Id, queryInteger, Timestamp } from '../kit/primitives.ts'

const tag = 'Events'

export const maxEventTypeLength = 128
export const maxPayloadBytes = 64 * 1024
const maxTargetMessage = 32_000
/** Each can grow to 4,000 characters. */
const maxPlaceholders = 50

/** Only the platform emits events with this prefix. */
export const reservedPrefix = 'agent.task.'
export const taskCompleted = 'agent.task.completed'
export const taskFailed = 'agent.task.failed'

/** Any text: an invalid one has its own error, `invalid_event_type`. */
const EventTypeText = z
  .string()
  .describe('Words of letters, digits and "_", joined by dots; at most 128 characters.')

/** Returns null for an invalid event type. */
export function parseEventType(text: string): string | null {
  return text.length <= maxEventTypeLength && /^[A-Za-z0-9_]+(\.[A-Za-z0-9_]+)*$/.test(text) ? text : null
}

export const placeholderPattern = /\{\{(payload(?:\.[A-Za-z0-9_-]+)+|event_type|source_agent)\}\}/g

const TargetMessage = z
  .string()
  .min(1, 'must not be empty')
  .max(maxTargetMessage)
  .refine((text) => text.trim() !== '', 'must not be blank')
  .refine(
    (text) => [...text.matchAll(placeholderPattern)].length <= maxPlaceholders,
    `must not have more than ${maxPlaceholders} placeholders`,
  )
  .describe(
    'Placeholders: `{{payload.a.b}}`, `{{event_type}}` and `{{source_agent}}`. Inserted text is enclosed in `⟦` and `⟧`, truncated to 4,000 characters, and marked as data.',
  )

export const EmitEvent = z.object({
  event_type: EventTypeText,
  payload: z
    .record(z.string(), z.unknown())
    .refine(
      (payload) => bytesOf(JSON.stringify(payload)) <= maxPayloadBytes,
      'must not exceed 64 KiB as JSON',
    )
    .nullish()
    .transform((payload) => payload ?? null),
})
export type EmitEvent = z.output<typeof EmitEvent>

/** Returns the length in bytes of UTF-8. */
function bytesOf(text: string): number {
  let bytes = 0
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4
  }
  return bytes
}

const integer = z.number().int()

/** Why a subscriber got no run. */
export const dropReasons = [
  'agent_not_running',
  'agent_not_found',
  'agent_not_permitted',
  'queue_full',
  'circuit_open',
  'inter_agent_depth_exceeded',
] as const
export type DropReason = (typeof dropReasons)[number]

export const AgentEvent = z
  .object({
    id: Id,
    source_agent: z.string().describe('The agent, or the username of the person who emitted it.'),
    event_type: z.string(),
    payload: z.record(z.string(), z.unknown()).nullable(),
    subscriptions_triggered: integer,
    executions: z
      .array(
        z.object({
          agent_name: z.string(),
          execution_id: Id.optional(),
          dropped: z.enum(dropReasons).optional(),
        }),
      )
      .describe(
        'Only agents that the caller can access. Without `execution_id` and `dropped`, the run is not created yet.',
      ),
    created_at: Timestamp,
  })
  .meta({ id: 'AgentEvent' })
export type AgentEvent = z.output<typeof AgentEvent>

const Events = z.object({ count: integer, events: z.array(AgentEvent) })

export const EventSubscription = z
  .object({
    id: Id,
    subscriber_agent: z.string(),
    source_agent: z
      .string()
      .nullable()
      .describe('Null: any agent that the subscriber may call, unless `source_hidden`.'),
    source_hidden: z
      .literal(true)
      .optional()
      .describe('The source is an agent that the caller must not know.'),
    event_type: z.string(),
    target_message: z.string(),
    enabled: z.boolean(),
    last_triggered_at: Timestamp.nullable(),
    created_by: z.string(),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: 'EventSubscription' })
export type EventSubscription = z.output<typeof EventSubscription>

const emitFails = ['invalid_event_type', 'reserved_event_type', 'rate_limited'] as const

export const emitEvent = endpoint({
  id: 'emitEvent',
  method: 'POST',
  path: '/api/events',
  summary: 'Emit an event, which invokes every agent subscribed to its type',
  description:
    'An agent emits as itself. A person emits in their own name; this invokes only subscribers that they can access.',
  tag,
  access: { who: 'any' },
  body: EmitEvent,
  status: 201,
  returns: AgentEvent,
  fails: emitFails,
  audit: { type: 'execution', action: 'emit_event' },
})

export const emitAgentEvent = endpoint({
  id: 'emitAgentEvent',
  method: 'POST',
  path: '/api/agents/{name}/emit-event',
  summary: 'Emit an event as an agent, which invokes its subscribers',
  tag,
  access: { who: 'access' },
  params: AgentParams,
  body: EmitEvent,
  status: 201,
  returns: AgentEvent,
  fails: ['agent_not_found', 'agent_identity_required', ...emitFails],
  audit: { type: 'execution', action: 'emit_event' },
})

const eventQuery = { event_type: z.string().max(200).optional(), limit: queryInteger(1, 500, 50) }

export const listEvents = endpoint({
  id: 'listEvents',
  method: 'GET',
  path: '/api/events',
  summary: 'Events of all agents that the caller can access, newest first',
  tag,
  access: { who: 'any' },
  query: z.object({ ...eventQuery, source_agent: z.string().max(200).optional() }),
  returns: Events,
})

export const listAgentEvents = endpoint({
  id: 'listAgentEvents',
  method: 'GET',
  path: '/api/agents/{name}/events',
  summary: 'Events of an agent, newest first',
  tag,
  access: { who: 'access' },
  params: AgentParams,
  query: z.object(eventQuery),
  returns: Events,
  fails: ['agent_not_found'],
})

export const CreateEventSubscription = z.object({
  source_agent: z
    .string()
    .max(200)
    .nullish()
    .transform((name) => name || null),
  event_type: EventTypeText,
  target_message: TargetMessage,
  enabled: z.boolean().default(true),
})
export type CreateEventSubscription = z.output<typeof CreateEventSubscription>

export const UpdateEventSubscription = z.object({
  event_type: EventTypeText.optional(),
  target_message: TargetMessage.optional(),
  enabled: z.boolean().optional(),
})
export type UpdateEventSubscription = z.output<typeof UpdateEventSubscription>

const saveFails = [
  'invalid_event_type',
  'reserved_event_type',
  'agent_not_permitted',
  'already_exists',
] as const

export const createEventSubscription = endpoint({
  id: 'createEventSubscription',
  method: 'POST',
  path: '/api/agents/{name}/event-subscriptions',
  summary: 'Subscribe an agent to an event type',
  description:
    'Events of another agent require the permission to call it. `agent.task.completed` and `agent.task.failed` are emitted by the platform at the end of tasks.',
  tag,
  access: { who: 'owner' },
  params: AgentParams,
  body: CreateEventSubscription,
  status: 201,
  returns: EventSubscription,
  fails: ['agent_not_found', ...saveFails],
  audit: { type: 'configuration', action: 'create_event_subscription' },
})

export const listEventSubscriptions = endpoint({
  id: 'listEventSubscriptions',
  method: 'GET',
  path: '/api/agents/{name}/event-subscriptions',
  summary: 'List subscriptions of an agent, or subscriptions to it',
  tag,
  access: { who: 'access' },
  params: AgentParams,
  query: z.object({
    direction: z
      .enum(['subscriber', 'source', 'both'])
      .optional()
      .transform((value) => value ?? 'subscriber'),
    limit: queryInteger(1, 500, 100),
  }),
  returns: z.object({ count: integer, subscriptions: z.array(EventSubscription) }),
  fails: ['agent_not_found'],
})

const SubscriptionParams = z.object({ id: z.string() })

export const getEventSubscription = endpoint({
  id: 'getEventSubscription',
  method: 'GET',
  path: '/api/event-subscriptions/{id}',
  summary: 'Get a subscription',
  tag,
  access: { who: 'any' },
  params: SubscriptionParams,
  returns: EventSubscription,
  fails: ['not_found'],
})

export const updateEventSubscription = endpoint({
  id: 'updateEventSubscription',
  method: 'PUT',
  path: '/api/event-subscriptions/{id}',
  summary: 'Change a subscription; omitted fields stay unchanged',
  tag,
  access: { who: 'any' },
  params: SubscriptionParams,
  body: UpdateEventSubscription,
  returns: EventSubscription,
  fails: ['not_found', 'owner_required', ...saveFails],
  audit: { type: 'configuration', action: 'update_event_subscription' },
})

export const deleteEventSubscription = endpoint({
  id: 'deleteEventSubscription',
  method: 'DELETE',
  path: '/api/event-subscriptions/{id}',
  summary: 'Delete a subscription',
  tag,
  access: { who: 'any' },
  params: SubscriptionParams,
  returns: z.object({ status: z.literal('deleted'), subscription_id: Id }),
  fails: ['not_found', 'owner_required'],
  audit: { type: 'configuration', action: 'delete_event_subscription' },
})

/** Sent to people with access to the source agent; for a person's event, to admins. */
export const agentEventEmitted = eventType({
  name: 'agent.event',
  stored: true,
  fields: z.object({
    event_id: Id,
    source_agent: z.string(),
    event_type: z.string(),
    subscriptions_triggered: integer,
  }),
})
