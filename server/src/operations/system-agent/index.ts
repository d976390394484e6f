/**
 * System agent: the platform's own agent, accessible only to admins.
 *
 * Owns no table: it is an ordinary agent, created at the first start. Promises that a reset of its workspace and key
 * keeps its runs and conversations.
 */
export { systemAgentRoutes } from './routes.ts'
export { createSystemAgent, type SystemAgent, type SystemAgentDeps } from './service.ts'
