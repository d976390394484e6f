/**
 * Clock: when schedules are due, and that they are fired then.
 *
 * Owns no table: it claims rows of `fires`. Promises that a due time is claimed before anything is sent, that
 * what was missed within the grace is made up for and everything else that was missed has a record, and that
 * neither a clock that is set, nor summer time, nor a second scheduler fires anything twice. Refuses to know
 * what firing means: it asks the platform.
 */
export { connectPlatform, type Platform } from './platform.ts'
export { type Scheduler, type SchedulerDeps, startScheduler } from './scheduler.ts'
