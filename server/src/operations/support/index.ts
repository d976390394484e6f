/**
 * Support: the state of an installation for the support bundle of `roost doctor`.
 *
 * Owns no table. Promises that its answer contains nothing that a person or an agent wrote, except the names of agents.
 */
export { supportRoutes } from './routes.ts'
export { createSupport, type Support, type SupportDeps } from './service.ts'
