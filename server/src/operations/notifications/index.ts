/**
 * Notifications: short words of an agent to the people behind it, which ask for no answer.
 *
 * Owns the table `notifications`. Promises that each is acknowledged by one person at most, that whoever reaches the
 * agent sees them, and that an agent keeps a bounded number. Refuses to know who is asked something: that is the
 * operator queue.
 */
export { notificationRoutes } from './routes.ts'
export { createNotifications, type Notifications, type NotificationsDeps } from './service.ts'
