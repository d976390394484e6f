/**
 * Metrics: figures about the platform, the machine, the containers, and the work of agents.
 *
 * For Prometheus: metrics of the platform. Counters and histograms (`kit/platform-meters.ts`) belong to this process and start
 * with it. Gauges are read on each scrape, so all processes report the same and a restart loses nothing. Promises that
 * a scrape takes milliseconds on a busy platform: it counts only the last day and open work. Raises no alarms.
 *
 * Telemetry: resource use of the machine and of the agents' containers. Promises that no read calls the container
 * engine: the figures of containers come from the sampler of `agents/health`, with their age. Also manages the consent
 * to share usage figures; nothing is sent.
 *
 * Agent metrics: figures that an agent maintains about its own work. Its template declares them, and `metrics.json` in
 * the workspace contains their values. Replies even when the agent is unavailable; missing values are `unknown`.
 */
export { type AgentMetricsDeps, createAgentMetrics } from './agent-metrics.ts'
export { agentMetricsRoutes, metricsRoutes, telemetryRoutes, usageSharingRoutes } from './routes.ts'
export {
  createMetrics,
  type Metrics,
  type MetricsDeps,
  metricDefinitions,
  type ObservedRequest,
} from './service.ts'
export { createTelemetry, type Telemetry, type TelemetryDeps } from './telemetry.ts'
export { createUsageSharing } from './usage-sharing.ts'
