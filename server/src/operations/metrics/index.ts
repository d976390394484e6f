/**
 * Metrics: figures about the platform for Prometheus.
 *
 * Owns the latencies of this process's requests since its start, in memory; everything else is read when it is
 * asked for, so that several processes tell the same and a restart loses nothing. Promises that a look costs a busy
 * platform milliseconds: counts are of the last day and of what is open. Refuses to judge: alarms are made elsewhere.
 */
export { metricsRoutes } from './routes.ts'
export { createMetrics, type Metrics, type MetricsDeps, type ObservedRequest } from './service.ts'
