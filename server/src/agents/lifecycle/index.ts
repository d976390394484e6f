/**
 * Lifecycle: what is wanted of an agent's container, made so.
 *
 * Desired state (the row) × what the engine has → `rules.plan` → steps, each with one executor; starting,
 * stopping, the repair loop and the registry use the same. Promises one operation of an agent at a time over
 * all processes, that a stopped agent stays stopped and a running one comes back, and that `exited` is said
 * only of a container that ended by itself. Refuses to know what a run is: hooks tell of a stop.
 */
export { engineFault } from './faults.ts'
export { type FolderMount, readFolderMark } from './folder-mount.ts'
export type { LifecycleHooks } from './hooks.ts'
export { agentKeyContext, type BroughtUp, type MachineOptions } from './machine.ts'
export { settleRunning } from './observe.ts'
export { lifecycleRoutes } from './routes.ts'
export type { PortRange } from './rules.ts'
export { networkFor } from './rules.ts'
export { createLifecycle, type Lifecycle, type LifecycleDeps } from './service.ts'
export { volumesOf } from './spec.ts'
