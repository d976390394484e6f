/**
 * Metrics: figures about the platform for Prometheus.
 *
 * Owns the request latencies of this process since its start, in memory. Everything else is read on each scrape, so all
 * processes report the same and a restart loses nothing. Promises that a scrape takes milliseconds on a busy platform:
 * it counts only the last day and open work. Raises no alarms.
 */
export { metricsRoutes } from './routes.ts'
export { createMetrics, type Metrics, type MetricsDeps, type ObservedRequest } from './service.ts'
