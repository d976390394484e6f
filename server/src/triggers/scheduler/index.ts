/**
 * Scheduler: decides when schedules are due, and asks the platform to fire them.
 *
 * Owns no table; it claims rows of `fires`. A due time is claimed before it is sent. Missed times within the grace
 * fire by the misfire policy, and all others leave a record. Changes of the clock, summer time and a second scheduler
 * fire nothing twice.
 */
export { connectPlatform, type Platform } from './platform.ts'
export { type Scheduler, type SchedulerDeps, startScheduler } from './service.ts'
