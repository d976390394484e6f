/**
 * Attempts: one task tried several times, each on a fork of the agent, under one cost cap.
 *
 * Owns the tables `attempt_sets` and `attempts`. The records of attempts belong to the source, and so do their runs once
 * a fork is removed. A set goes on after a kill: its rows say what is left to do.
 */
export { attemptRoutes } from './routes.ts'
export { type Attempts, type AttemptsDeps, createAttempts } from './service.ts'
export { createAttemptSpending } from './spending.ts'
