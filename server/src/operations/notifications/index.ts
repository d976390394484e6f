/**
 * Notifications: short messages of an agent to people, which need no answer.
 *
 * Owns the table `notifications`. Promises that at most one person acknowledges each, that everyone with access to the
 * agent sees them, and that their number per agent is limited. Questions belong to the operator queue.
 */
export { notificationRoutes } from './routes.ts'
export { createNotifications, type Notifications, type NotificationsDeps } from './service.ts'
