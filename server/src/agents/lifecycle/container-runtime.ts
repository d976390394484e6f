import type { IsolationLevel } from '@roost/contracts/agents/agent'
import type { Isolation, OciRuntimes } from '../../ports/containers/port.ts'
import type { Agent } from '../records/index.ts'

/** What limits the OCI runtimes of agents. */
export type RuntimePolicy = {
  /** `ROOST_CONTAINER_RUNTIME`; null when it is not set. */
  installation: string | null
  engine: OciRuntimes
}

const ownKernel = /^(io\.containerd\.)?(runsc|kata)([-_.]|$)/
const hostKernel = /^(io\.containerd\.)?(runc|crun)([-_.]|$)/

const gvisor = /^(io\.containerd\.)?runsc/
/** gVisor does not pass ambient capabilities on, which the agent program needs to change users. */
const gvisorGaps = [
  'Under gVisor all turns run as one user: people who share the agent can read all credentials and each other’s conversations.',
  'Under gVisor all turns run as one user: in read-only mode, shell commands can still change sources.',
]

/** True for gVisor and Kata, judged by the name under which the engine lists the runtime. */
export function hasOwnKernel(runtime: string): boolean {
  return ownKernel.test(runtime)
}

/** The weakest runtime that an agent may have; null where the engine has none. */
export function runtimeFloor({ installation, engine }: RuntimePolicy): string | null {
  return installation ?? engine.default
}

/** The order is runc, crun < runsc, kata. A runtime that is not in it is only as strong as itself. */
export function isWeakerThan(runtime: string, floor: string): boolean {
  if (runtime === floor || hostKernel.test(floor)) return false
  return !(hasOwnKernel(floor) && hasOwnKernel(runtime))
}

/** Runtimes that the engine lists and that the installation allows for agents. */
export function allowedRuntimes(policy: RuntimePolicy): string[] {
  const floor = runtimeFloor(policy)
  return policy.engine.listed.filter((runtime) => floor === null || !isWeakerThan(runtime, floor))
}

/**
 * The runtime to request for a new container; null requests the engine's default. An agent's own runtime that
 * is weaker than the installation's has no effect.
 */
export function requestedRuntime(
  { container_runtime: own }: Pick<Agent, 'container_runtime'>,
  policy: RuntimePolicy,
): string | null {
  const floor = runtimeFloor(policy)
  return own !== null && (floor === null || !isWeakerThan(own, floor)) ? own : policy.installation
}

/** The runtime of the agent's next container; null where the engine has none. */
export function effectiveRuntime(
  agent: Pick<Agent, 'container_runtime'>,
  policy: RuntimePolicy,
): string | null {
  return requestedRuntime(agent, policy) ?? policy.engine.default
}

/** Containers made before the runtime was recorded ran with the usual default. */
export const unrecordedRuntime = 'runc'

/** The runtime of the agent's container; null without a container, and where the engine has no runtimes. */
export function currentRuntime(
  { applied }: Pick<Agent, 'applied'>,
  { engine }: RuntimePolicy,
): string | null {
  if (!applied) return null
  if (applied.container_runtime !== undefined) return applied.container_runtime
  return engine.listed.length === 0 ? null : unrecordedRuntime
}

/** How an agent is isolated: by its current container, else by the next one. */
export function isolationOf(
  agent: Pick<Agent, 'container_runtime' | 'applied'>,
  policy: RuntimePolicy,
  { level, weaker }: Isolation,
): { level: IsolationLevel; runtime: string | null; weaker: string[] } {
  const runtime = agent.applied ? currentRuntime(agent, policy) : effectiveRuntime(agent, policy)
  const isOwnKernel = level === 'container' && runtime !== null && hasOwnKernel(runtime)
  const gaps = isOwnKernel && gvisor.test(runtime) ? gvisorGaps : []
  return { level: isOwnKernel ? 'own_kernel' : level, runtime, weaker: [...weaker, ...gaps] }
}
