/** The records of fires, for the process that claims them: without what decides them, so that it stays small. */
export { givenUp } from '../given-up.ts'
export { type RunProgress, scheduleRunStore } from '../run-store.ts'
export { type DueTime, type FireRow, type FireStore, fireStore, keyOf } from '../store.ts'
