/**
 * The system agent: the platform's own, which admins alone reach.
 *
 * Owns no table: it is an agent among the agents, made at the first start. Promises that it can be begun anew,
 * workspace and key, without losing what it ran and said. Refuses to know how containers are made.
 */
export { systemAgentRoutes } from './routes.ts'
export { createSystemAgent, type SystemAgent, type SystemAgentDeps } from './service.ts'
