/**
 * Disk: what an agent's volumes and its container's writable layer occupy, and its quota. Owns the table
 * `agent_disk` and the columns `disk_*` of `agents`.
 *
 * The agent's program reports the size of its volumes, and the engine is asked for the same and the layer. At
 * 80 % of the quota an alert is raised. At 100 % writes through the platform are refused, and runs wait.
 */
export { diskRoutes, internalDiskRoutes } from './routes.ts'
export { requireDiskRoom } from './rules.ts'
export { createDisk, type Disk, type DiskDeps } from './service.ts'
