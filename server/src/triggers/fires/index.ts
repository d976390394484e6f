/**
 * Fires: the record of every due time of a schedule, and its runs.
 *
 * Owns the tables `fires` and `scheduler_state`. A due time has one row, whichever process inserts it. Separate from
 * `firing`, so that the scheduler process loads no code that decides fires.
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
