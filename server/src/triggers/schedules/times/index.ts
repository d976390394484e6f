/** When schedules are due, for the process that keeps the clock: without the rest of them, so that it stays small. */
export { createScheduleTimes, type ScheduleTimes } from '../times.ts'
