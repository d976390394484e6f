/**
 * Invariants: whether the records of runs hold together, on live data.
 *
 * Reads one state of the database, judges it by rules that always hold, and looks again before it reports.
 * Owns no table and changes nothing. Refuses to repair: what is wrong here is a fault of the platform, and
 * a repair would hide it.
 */
export { internalInvariantRoutes, invariantRoutes } from './routes.ts'
export { createInvariants, type Invariants, type InvariantsDeps } from './service.ts'
