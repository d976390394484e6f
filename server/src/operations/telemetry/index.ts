/**
 * Telemetry: resource use of the machine and of the agents' containers.
 *
 * Owns the newest reading of the machine, in memory. Promises that no read calls the container engine: the figures of
 * containers come from the sampler of `agents/health`, with their age. Also manages the consent to share usage figures;
 * nothing is sent.
 */
export { telemetryRoutes, usageSharingRoutes } from './routes.ts'
export { createTelemetry, type Telemetry, type TelemetryDeps } from './service.ts'
export { createUsageSharing } from './usage-sharing.ts'
