/**
 * Schedules: the tasks that an agent gets at given times, and their management.
 *
 * Owns the tables `schedules` (the webhook columns belong to `webhooks`) and `schedule_changes`. A timeout never
 * exceeds the agent's. Each change has a higher position than all earlier ones. Only admins see deleted schedules.
 * `scheduler` follows the changes, and `firing` makes the runs.
 */
export { scheduleRetention } from './retention.ts'
export { type FireByHand, scheduleRoutes } from './routes.ts'
export { createSchedules, type Schedules, type SchedulesDeps } from './service.ts'
export { type Schedule, scheduleColumns } from './store.ts'
