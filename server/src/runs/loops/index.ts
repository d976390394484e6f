/**
 * Loops: one message, repeated until an end condition applies.
 *
 * Owns the table `loops`. A loop has at most one open run, counts each run once, and continues after a restart: its
 * cost, failures and progress are read from its runs. A stopped agent or an open breaker postpones the next run
 * without a failed one. `dispatch` starts the runs and reports their ends through `RunHooks`.
 */
export { loopRoutes } from './routes.ts'
export { createLoops, type Loops, type LoopsDeps } from './service.ts'
export { loopStore } from './store.ts'
