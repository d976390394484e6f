/**
 * Reminders: messages that an agent runs once, at a given time.
 *
 * Owns the table `reminders`. A due reminder fires once, with any number of processes, and waits while the agent's
 * autonomy is off. Its result reaches the conversation in which it was set, through `DeliverResult`, which the
 * conversations area implements.
 */
export type { DeliverResult } from './deliver.ts'
export { reminderRoutes } from './routes.ts'
export { createReminders, type Reminders, type RemindersDeps, reminderRetention } from './service.ts'
