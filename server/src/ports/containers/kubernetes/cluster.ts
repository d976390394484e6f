import type { Clock } from '../../../kit/clock.ts'
import { ContainerError, type EngineInfo, type OciRuntimes } from '../port.ts'
import type { Api } from './api.ts'
import { isStatus } from './faults.ts'
import { type Entry, type Node, quantity } from './objects.ts'

/** What the cluster offers: its version, its nodes and its RuntimeClasses. */
export type Cluster = {
  info(signal?: AbortSignal): Promise<EngineInfo>
  /** Names of the nodes that do not respond, at most 10 seconds old. Empty without the right to list nodes. */
  silentNodes(): Promise<ReadonlySet<string>>
  /** From the last `info`. Pods without a RuntimeClass have the node's default, which has no name. */
  runtimes(): OciRuntimes
}

/** Nodes and RuntimeClasses change rarely, and a list of nodes is long. */
const freshMs = 5 * 60_000
const silentFreshMs = 10_000
/** Without the right to list nodes: no limit here; the scheduler decides. */
const unknownResources = { cpus: 4096, memoryBytes: 2 ** 50 }

export function createCluster(api: Api, clock: Pick<Clock, 'now'>): Cluster {
  let silent: { names: Promise<ReadonlySet<string>>; at: number } | null = null
  let known: { id: string; resources: typeof unknownResources; listed: string[]; at: number } | null = null

  async function refresh(signal?: AbortSignal) {
    const [namespace, nodes, classes] = await Promise.all([
      api.get<Entry>('namespaces', api.namespace, { signal, onlyMetadata: true }),
      allowed(api.list<Node>('nodes', {}, { signal })),
      allowed(api.list<Entry>('runtimeclasses', {}, { signal, onlyMetadata: true })),
    ])
    return {
      // Deleting the namespace deletes all containers and volumes.
      id: namespace.metadata.uid,
      resources: nodes ? largest(nodes.items) : unknownResources,
      listed: (classes?.items ?? []).map(({ metadata }) => metadata.name).toSorted(),
      at: clock.now().getTime(),
    }
  }

  async function listSilent(): Promise<ReadonlySet<string>> {
    const nodes = await allowed(api.list<Node>('nodes', {}))
    return new Set(nodes?.items.filter(isSilent).map(({ metadata }) => metadata.name))
  }

  return {
    async info(signal) {
      const { gitVersion } = await api.version(signal)
      if (!known || clock.now().getTime() - known.at > freshMs) known = await refresh(signal)
      return { id: known.id, name: 'Kubernetes', version: gitVersion, ...known.resources }
    },
    silentNodes() {
      const now = clock.now().getTime()
      if (!silent || now - silent.at > silentFreshMs) {
        const before = silent?.names
        silent = { names: listSilent().catch((error: unknown) => keep(error, before)), at: now }
      }
      return silent.names
    },
    runtimes: () => ({ listed: known?.listed ?? [], default: null }),
  }
}

/** Null without the right, which is optional, or on a cluster without the kind. */
async function allowed<T>(answer: Promise<T>): Promise<T | null> {
  return answer.catch((error: unknown) => {
    if (isStatus(error, 403, 404)) return null
    throw error
  })
}

/** Containers must not depend on a list of nodes that is slow or refused now. */
function keep(
  error: unknown,
  before: Promise<ReadonlySet<string>> | undefined,
): Promise<ReadonlySet<string>> {
  if (error instanceof ContainerError) return before ?? Promise.resolve(new Set<string>())
  throw error
}

/** The control plane sets this when a node has not reported for about 40 seconds. */
function isSilent({ status }: Node): boolean {
  return status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'Unknown'
}

/** A container runs on one node, so the largest one is its limit. */
function largest(nodes: readonly Node[]): typeof unknownResources {
  const most = (of: (node: Node) => string | undefined, unknown: number) =>
    Math.max(...nodes.map((node) => quantity(of(node)) ?? 0), 0) || unknown
  return {
    cpus: most(({ status }) => status?.allocatable?.cpu, unknownResources.cpus),
    memoryBytes: most(({ status }) => status?.allocatable?.memory, unknownResources.memoryBytes),
  }
}
