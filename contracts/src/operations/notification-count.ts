import { z } from 'zod'
import { endpoint } from '../kit/endpoint.ts'

export const notificationsTag = 'Notifications'
export const notificationPriorities = ['low', 'normal', 'high', 'urgent'] as const
export const notificationStatuses = ['pending', 'acknowledged', 'dismissed'] as const

/** A separate file keeps the first page of the web UI small: it imports only this. */
export const countNotifications = endpoint({
  id: 'countNotifications',
  method: 'GET',
  path: '/api/notifications/count',
  summary: 'Count the notifications in one status',
  tag: notificationsTag,
  access: { who: 'any' },
  query: z.object({
    agent_name: z.string().max(100).optional(),
    priority: z.enum(notificationPriorities).optional(),
    status: z.enum(notificationStatuses).default('pending'),
  }),
  returns: z.object({ status: z.enum(notificationStatuses), count: z.number().int() }),
})
