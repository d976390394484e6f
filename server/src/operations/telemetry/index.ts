/**
 * Telemetry: what the machine and the agents' containers use. Owns the newest reading of the machine, in
 * memory. Promises that no read asks the container engine: containers are told from what the sampler of
 * `health` took, with its age.
 */
export { telemetryRoutes } from './routes.ts'
export { createTelemetry, type Telemetry, type TelemetryDeps } from './service.ts'
