/**
 * Schedule times: when a schedule is due, from its cron expression and time zone.
 *
 * Owns no table. Separate from `schedules`, so that the scheduler process loads no code that edits them.
 */
export { createScheduleTimes, registrationError, type ScheduleTimes } from './service.ts'
