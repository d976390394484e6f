/**
 * Fan-outs: up to fifty tasks in one request with one result.
 *
 * Owns the table `fan_outs`. All tasks are accepted or none, and each has its execution from the start. At most
 * `max_concurrency` of them are queued or running. A fan-out is complete exactly when all its runs have ended, however
 * often the platform was killed. Its outcome is only read from its runs, which `dispatch` starts and ends.
 */
export { fanOutRoutes } from './routes.ts'
export { createFanOuts, type FanOutDeps, type FanOuts } from './service.ts'
export { fanOutStore } from './store.ts'
