/**
 * Agent metrics: figures that an agent keeps about its own work, as its template declares them.
 *
 * Owns nothing: the template says what there is, `metrics.json` in the workspace what it is now. Promises an answer
 * whatever the agent does; what is not known says so.
 */
export { agentMetricsRoutes } from './routes.ts'
export { type AgentMetricsDeps, createAgentMetrics } from './service.ts'
