/**
 * Lifecycle: brings an agent's container to its desired state.
 *
 * `rules.plan` compares the desired state (the row) with the engine's state and returns steps, each with one
 * executor. Start, stop, the repair loop and agent creation share this code. Each agent has at most one
 * operation at a time across all processes. A stopped agent stays stopped, a running one is brought back.
 * `exited` means that the container ended by itself. Hooks inform other areas of a stop.
 */
export {
  allowedRuntimes,
  currentRuntime,
  effectiveRuntime,
  isolationOf,
  runtimeFloor,
} from './container-runtime.ts'
export { createEngineIdentity, type EngineIdentity } from './engine-identity.ts'
export { engineFault } from './faults.ts'
export { type FolderMount, readFolderMark } from './folder-mount.ts'
export type { LifecycleHooks } from './hooks.ts'
export { createLock, type Lock } from './lock.ts'
export { agentKeyContext, type BroughtUp, type MachineOptions, sealedColumns } from './machine.ts'
export { settleStart } from './observe.ts'
export type { UsedEngine } from './placement.ts'
export { lifecycleRoutes } from './routes.ts'
export type { PortRange } from './rules.ts'
export { networkFor } from './rules.ts'
export { createLifecycle, type Lifecycle, type LifecycleDeps } from './service.ts'
export { volumeLabels, volumesOf } from './spec.ts'
