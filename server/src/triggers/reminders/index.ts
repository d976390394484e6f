/**
 * Reminders: a message that an agent runs once, at a time set before.
 *
 * Owns the table `reminders`. Promises that one that is due fires once, however many processes look, that it
 * waits while the agent's autonomy is off, and that what came of it reaches the conversation in which it was
 * set. Refuses to know what a conversation is: `DeliverResult` is filled by the conversations.
 */
export type { DeliverResult } from './deliver.ts'
export { reminderRetention } from './retention.ts'
export { reminderRoutes } from './routes.ts'
export { createReminders, type Reminders, type RemindersDeps } from './service.ts'
