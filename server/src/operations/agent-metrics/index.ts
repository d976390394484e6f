/**
 * Agent metrics: figures that an agent maintains about its own work, as declared by its template.
 *
 * Owns no table: the template declares the metrics, and `metrics.json` in the workspace contains their values. Promises
 * a reply even when the agent is unavailable; missing values are `unknown`.
 */
export { agentMetricsRoutes } from './routes.ts'
export { type AgentMetricsDeps, createAgentMetrics } from './service.ts'
