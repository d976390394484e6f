/**
 * Analytics: daily figures of an agent's runs. Reads only and owns no table. Days are UTC days without gaps.
 * The figures are counts and sums, never the content of runs.
 */
export { analyticsRoutes } from './routes.ts'
export { type AgentAnalytics, createAnalytics } from './service.ts'
