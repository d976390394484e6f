/**
 * Replicas: the running processes of the installation.
 *
 * Owns the table `replicas`. Promises that every API, scheduler and MCP process has a row while it runs, and that the
 * row of a killed one counts as silent when its leases have expired.
 */
export { type Heartbeat, startHeartbeat } from './heartbeat.ts'
export { internalReplicaRoutes, replicaRoutes } from './routes.ts'
export { createReplicas, liveHostsOf, type ReplicaDescription, type Replicas } from './service.ts'
