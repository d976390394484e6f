/**
 * Analytics: figures of an agent's runs over days. Reads only; owns nothing. Promises that days are days in
 * UTC without gaps, and that no figure opens the rows it counts. Refuses to know what runs say.
 */
export { analyticsRoutes } from './routes.ts'
export { type AgentAnalytics, createAnalytics } from './service.ts'
