/**
 * Monitoring: how agents are, how they were, and when operators must know.
 *
 * Owns the tables `health_checks` and `agent_health`. Judges each agent by what the platform has heard anyway:
 * the engine's events, beats, samples, runs, syncs. Promises that no read asks the engine or an agent, that an
 * alert is pending once, is not told anew within the cooldown, and is taken back when its cause is gone.
 * Refuses to repair: that is what the lifecycle does.
 */
export type { Look, Looked } from './look.ts'
export { checkRetention } from './retention.ts'
export { monitoringRoutes } from './routes.ts'
export { createMonitoring, type Monitoring, type MonitoringDeps } from './service.ts'
