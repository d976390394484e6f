/**
 * Firing: what becomes of a schedule when its time has come, or when somebody triggers it.
 *
 * Owns the tables `fires` and `scheduler_state`. Promises that a due time fires at most once, whoever asks and
 * however often, that one which did not fire has a record that says why, and that a failed run is tried again
 * as its schedule says, whatever happens to the processes meanwhile. Refuses to know when a time is due: that
 * is `clock`.
 */

export {
  type DueTime,
  type FireRow,
  fireStore,
  type RunProgress,
  type SchedulerState,
  scheduleRunStore,
} from '../fires/index.ts'
export { createFeed } from './changes.ts'
export type { Fired } from './choice.ts'
export { createExecute, type Execute } from './execute.ts'
export type { FireOptions } from './fire.ts'
export type { Deliver, FrozenAfter, ReachesAgent } from './ports.ts'
export { fireRetention } from './retention.ts'
export { firingRoutes, internalFiringRoutes } from './routes.ts'
export { createFiring, type Firing, type FiringDeps } from './service.ts'
