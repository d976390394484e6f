/**
 * Firing: makes runs of schedules, at a due time or when a person or a webhook triggers them.
 *
 * A due time fires at most once, however often it is requested. A due time that does not fire leaves a record
 * with the reason. A failed run is retried as its schedule says, even if processes die in between. When a
 * schedule is due is decided in `scheduler`.
 */
export { createFeed } from './changes.ts'
export type { Fired } from './choice.ts'
export type { Deliver, FrozenAfter, ReachesAgent } from './deps.ts'
export { createExecute, type Execute } from './execute.ts'
export type { FireOptions } from './fire.ts'
export { fireRetention } from './retention.ts'
export { firingRoutes, internalFiringRoutes } from './routes.ts'
export { createFiring, type Firing, type FiringDeps } from './service.ts'
