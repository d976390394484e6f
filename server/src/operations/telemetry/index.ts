/**
 * Telemetry: what the machine and the agents' containers use. Owns the newest reading of the machine, in
 * memory. Promises that no read asks the container engine: containers are told from what the sampler of
 * `health` took, with its age. Whether figures of the installation may be shared is told and kept here as well; nothing
 * is sent.
 */
export { telemetryRoutes, usageSharingRoutes } from './routes.ts'
export { createTelemetry, type Telemetry, type TelemetryDeps } from './service.ts'
export { createUsageSharing } from './usage-sharing.ts'
