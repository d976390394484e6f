/**
 * Forks: a new agent with the workspace of a record, and with the settings and skills of its source.
 *
 * Owns the columns `forked_from` and `attempt_set_id` of `agents`. What other features copy is in their hooks. Shares,
 * links, keys, conversations, runs and records stay with the source.
 */
export type { ForkRequest } from './request.ts'
export { forkRoutes } from './routes.ts'
export { createForks, type ForkService, type Forks, type ForksDeps } from './service.ts'
