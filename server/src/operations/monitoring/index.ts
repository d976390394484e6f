/**
 * Monitoring: the health of agents, its history, and alerts about it.
 *
 * Owns the tables `health_checks` and `agent_health`. Judges agents by data that the platform has anyway: events of the
 * engine, heartbeats, samples, runs, syncs. Promises that no read calls the engine or an agent, and that an alert is
 * cleared with its cause and not raised again within the cooldown. Does not repair: the lifecycle does.
 */
export type { AgentCheck, CheckAgents } from './check.ts'
export { monitoringRoutes } from './routes.ts'
export { createMonitoring, type Monitoring, type MonitoringDeps } from './service.ts'
