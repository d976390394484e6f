/**
 * Loops: one message, run again and again until something says it is enough.
 *
 * Owns the table `loops`. Promises that a loop has at most one open run, that each run counts once, and that
 * it goes on after a restart from where it was: the row is the loop, and what it has cost, how often it failed
 * and whether it still moves is read from its runs. What hinders a dispatch (a stopped agent, an open breaker)
 * puts the run off and is no failed run. Refuses to know how a run is worked on: it asks `dispatch` for runs
 * and hears of their ends through `RunHooks`.
 */
export { loopRetention } from './retention.ts'
export { loopRoutes } from './routes.ts'
export { createLoops, type Loops, type LoopsDeps } from './service.ts'
