import { z } from 'zod'
import { endpoint } from '../kit/endpoint.ts'
import { eventType } from '../kit/event.ts'
import { inQuery } from '../kit/in-query.ts'
import { jsonObject } from '../kit/json.ts'
import { AgentParams, Id, queryInteger, Timestamp } from '../kit/primitives.ts'
import { notificationPriorities, notificationStatuses, notificationsTag } from './notification-count.ts'

const tag = notificationsTag

export { countNotifications } from './notification-count.ts'
export { notificationPriorities, notificationStatuses }

export const notificationTypes = ['alert', 'info', 'status', 'completion', 'question'] as const
export type NotificationType = (typeof notificationTypes)[number]
export type NotificationPriority = (typeof notificationPriorities)[number]
export type NotificationStatus = (typeof notificationStatuses)[number]

/** Per agent; the oldest are deleted first. */
export const mostNotificationsKept = 1000

export const NotificationBody = z.object({
  notification_type: z.enum(notificationTypes),
  title: z.string().trim().min(1).max(200),
  message: z
    .string()
    .max(8000)
    .nullish()
    .transform((value) => value ?? null),
  priority: z
    .enum(notificationPriorities)
    .nullish()
    .transform((value) => value ?? 'normal'),
  category: z
    .string()
    .trim()
    .min(1)
    .max(100)
    .nullish()
    .transform((value) => value ?? null),
  metadata: jsonObject(8)
    .nullish()
    .transform((value) => value ?? null)
    .describe('Additional data; at most 8 KiB of JSON.'),
})
export type NotificationBody = z.output<typeof NotificationBody>

export const Notification = z
  .object({
    id: Id,
    agent_name: z.string(),
    notification_type: z.enum(notificationTypes),
    title: z.string(),
    message: z.string().nullable(),
    priority: z.enum(notificationPriorities),
    category: z.string().nullable(),
    metadata: z.record(z.string(), z.unknown()).nullable(),
    status: z.enum(notificationStatuses),
    created_at: Timestamp,
    acknowledged_at: Timestamp.nullable(),
    acknowledged_by: z.string().nullable().describe('User name.'),
  })
  .meta({ id: 'Notification' })
export type Notification = z.output<typeof Notification>

const filters = {
  status: z.enum(notificationStatuses).optional(),
  priority: z.enum(notificationPriorities).optional(),
  limit: queryInteger(1, 500, 50),
  offset: queryInteger(0, 1_000_000, 0),
}
const agent_name = z.string().max(100)
const NotificationsQuery = z.object({ ...filters, agent_name: agent_name.optional() })
export type NotificationsQuery = z.output<typeof NotificationsQuery>

const NotificationList = z.object({
  count: z.number().int().describe('Items on this page; `X-Total-Count` has the total.'),
  notifications: z.array(Notification),
})
const NotificationParams = z.object({ id: z.string() })

export const createNotification = endpoint({
  id: 'createNotification',
  method: 'POST',
  path: '/api/notifications',
  summary: 'Send a notification to the people of an agent',
  description:
    'An agent notifies with its own key; a person names the agent. At most 60 a minute for each agent; the newest 1,000 of each agent are kept.',
  tag,
  access: { who: 'any' },
  body: NotificationBody.extend({
    agent_name: agent_name
      .nullish()
      .describe('The agent that the notification is about. Required for people.'),
  }),
  status: 201,
  returns: Notification,
  fails: ['agent_not_found', 'agent_identity_required', 'rate_limited'],
  audit: { type: 'execution', action: 'send_notification' },
})

export const listNotifications = endpoint({
  id: 'listNotifications',
  method: 'GET',
  path: '/api/notifications',
  summary: 'Notifications of the agents that the caller can access, newest first',
  tag,
  access: { who: 'any' },
  query: NotificationsQuery,
  returns: NotificationList,
  replyHeaders: ['X-Total-Count'],
})

export const listAgentNotifications = endpoint({
  id: 'listAgentNotifications',
  method: 'GET',
  path: '/api/agents/{name}/notifications',
  summary: 'Notifications of one agent, newest first',
  tag,
  access: { who: 'access' },
  params: AgentParams,
  query: z.object(filters),
  returns: NotificationList,
  replyHeaders: ['X-Total-Count'],
  fails: ['agent_not_found'],
})

const DismissBody = z.object({
  agent_name: agent_name.nullish().describe('Only the notifications of this agent.'),
})

export const dismissNotifications = endpoint({
  id: 'dismissAllNotifications',
  method: 'POST',
  path: '/api/notifications/dismiss-all',
  summary: 'Dismiss all notifications of one agent, or of all agents that the caller can access',
  tag,
  access: { who: 'any', gate: 'person' },
  strict: true,
  query: inQuery(DismissBody),
  body: DismissBody,
  bodyOptional: true,
  returns: z.object({ dismissed: z.number().int() }),
  fails: ['agent_not_found'],
  audit: { type: 'execution', action: 'dismiss_notifications' },
})

export const acknowledgeNotification = endpoint({
  id: 'acknowledgeNotification',
  method: 'POST',
  path: '/api/notifications/{id}/acknowledge',
  summary: 'Mark a notification as read; no effect unless it is pending',
  tag,
  access: { who: 'any', gate: 'person' },
  params: NotificationParams,
  returns: Notification,
  fails: ['not_found'],
  audit: { type: 'execution', action: 'acknowledge_notification' },
})

export const dismissNotification = endpoint({
  id: 'dismissNotification',
  method: 'POST',
  path: '/api/notifications/{id}/dismiss',
  summary: 'Dismiss a notification, read or unread',
  tag,
  access: { who: 'any', gate: 'person' },
  params: NotificationParams,
  returns: Notification,
  fails: ['not_found'],
  audit: { type: 'execution', action: 'dismiss_notification' },
})

export const agentNotification = eventType({
  name: 'agent.notification',
  stored: true,
  fields: z.object({
    notification_id: Id,
    notification_type: z.enum(notificationTypes),
    title: z.string(),
    priority: z.enum(notificationPriorities),
    category: z.string().nullish(),
  }),
})
/** `count` notifications were read or dismissed. */
export const notificationsCleared = eventType({
  name: 'notifications.cleared',
  stored: true,
  fields: z.object({ count: z.number().int() }),
})
