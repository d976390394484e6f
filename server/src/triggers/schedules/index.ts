/**
 * Schedules: what an agent is to be asked at which times, and everything people do with that.
 *
 * Owns the tables `schedules` (the columns of its webhook are those of `webhooks`) and `schedule_changes`.
 * Promises that what is stored can be read as it was asked for, that a timeout never exceeds the agent's, that
 * a change is given a position behind all earlier ones, and that a deleted schedule is nobody's but an admin's.
 * Refuses to know when something fires and what comes of it: that is `firing`, which follows the changes.
 */
export { scheduleRetention } from './retention.ts'
export { type FireByHand, scheduleRoutes } from './routes.ts'
export { createSchedules, type Schedules, type SchedulesDeps } from './service.ts'
export { type Schedule, scheduleColumns } from './store.ts'
