/**
 * Fan-outs: up to fifty tasks that are asked for at once and told as one.
 *
 * Owns the table `fan_outs`. Promises that all tasks are accepted or none, that each has its execution from
 * the start, that no more than `max_concurrency` of them stand in the agent's line or run at a time, and that
 * a fan-out is complete exactly when all its runs have ended, however often the platform was killed meanwhile.
 * What has become of it is read from its runs and kept nowhere else. Refuses to know how a run is worked on:
 * it asks `dispatch` for runs and hears of their ends through `RunHooks`.
 */
export { fanOutRoutes } from './routes.ts'
export { createFanOuts, type FanOutDeps, type FanOuts } from './service.ts'
