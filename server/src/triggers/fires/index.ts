/**
 * Fires: the record of every due time of a schedule, and the runs that came of it.
 *
 * Owns the tables `fires` and `scheduler_state`. Promises that one due time of a schedule has one row, whichever
 * process inserts it. Kept apart from `firing`, so that the scheduler process loads no code that decides fires.
 */
export { runAndRollBack } from './run-and-roll-back.ts'
export { type RunProgress, scheduleRunStore } from './run-store.ts'
export {
  type Decision,
  type DueTime,
  type FireRow,
  type FireStore,
  fireStore,
  keyOf,
  type SchedulerState,
} from './store.ts'
export type { ScheduleRunTables } from './tables.ts'
