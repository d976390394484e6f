/**
 * Invariants: checks on live data whether the records of runs are consistent.
 *
 * Reads a snapshot of the database, applies rules that must always hold, and checks violations again before it reports
 * them. Owns no table and changes nothing. Does not repair: a violation is a fault of the platform that a repair would
 * hide.
 */
export { internalInvariantRoutes, invariantRoutes } from './routes.ts'
export { createInvariants, type Invariants, type InvariantsDeps, violationsOfCopy } from './service.ts'
