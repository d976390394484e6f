import type { RecreateReason } from '@roost/contracts/agents/agent'
import type { EgressMode } from '@roost/contracts/agents/egress'
import { effectiveRuntime, type RuntimePolicy, unrecordedRuntime } from './container-runtime.ts'
import { type FolderMount, folderMark } from './folder-mount.ts'

/** Settings with which a container was or would be created. */
export type ContainerSettings = {
  cpu: string
  memory: string
  full_capabilities: boolean
  runtime: string
  agent_key_id: string | null
  image_version: string
  folders: string[]
  /** Missing in containers made before this setting existed; means open. */
  network?: 'open' | 'closed'
  /** OCI runtime; null while the engine is unknown or has none. */
  container_runtime?: string | null
}

/** The agent's container as reported by the engine; null if it does not exist. */
export type ObservedContainer = {
  id: string
  status: 'created' | 'pending' | 'running' | 'stopped' | 'lost'
} | null

export const steps = ['stop', 'remove', 'create', 'start'] as const
export type Step = (typeof steps)[number]

/**
 * The steps from the observed to the desired state. A running container is left alone: changes that need a
 * new container wait for the next start. A lost one is never replaced, because it may still run on its node.
 */
export function plan(input: {
  desired: 'running' | 'stopped'
  /** Kept stopped because it exited too often. */
  held: boolean
  observed: ObservedContainer
  /**
   * The restart policy may be about to start the container. Between two starts it looks stopped, so it is
   * stopped in any case.
   */
  mayRestart?: boolean
  /** Reasons to recreate the container; empty if it can be reused. */
  reasons: readonly RecreateReason[]
}): Step[] {
  const { desired, held, observed, mayRestart, reasons } = input
  if (desired === 'stopped' || held) {
    if (!observed || observed.status === 'created') return []
    return observed.status !== 'stopped' || mayRestart ? ['stop'] : []
  }
  if (!observed) return ['create', 'start']
  if (observed.status === 'running') return []
  return reasons.length > 0 && observed.status !== 'lost' ? ['remove', 'create', 'start'] : ['start']
}

type SettingsSource = Omit<
  ContainerSettings,
  'image_version' | 'folders' | 'network' | 'container_runtime'
> & {
  egress_mode: EgressMode
  container_runtime: string | null
}

/** The settings with which a container would be created now. */
export function desiredFor(
  agent: SettingsSource,
  image_version: string,
  mounts: readonly FolderMount[],
  policy: RuntimePolicy,
): ContainerSettings {
  const { cpu, memory, full_capabilities, runtime, agent_key_id } = agent
  const folders = mounts.map(folderMark)
  const network = networkFor(agent.egress_mode)
  const container_runtime = effectiveRuntime(agent, policy)
  return {
    ...{ cpu, memory, full_capabilities, runtime, agent_key_id, image_version, folders, network },
    container_runtime,
  }
}

/** The network that an agent's container uses. */
export function networkFor(mode: EgressMode): 'open' | 'closed' {
  return mode === 'enforce' ? 'closed' : 'open'
}

/** Reasons to recreate the container at the next start; empty if there are none. */
export function recreateReasonsOf(
  applied: ContainerSettings | null,
  desired: ContainerSettings,
): RecreateReason[] {
  if (!applied) return []
  const reasons: RecreateReason[] = []
  if (applied.cpu !== desired.cpu || applied.memory !== desired.memory) reasons.push('resources')
  if (applied.full_capabilities !== desired.full_capabilities) reasons.push('capabilities')
  if (applied.runtime !== desired.runtime) reasons.push('runtime')
  if (applied.agent_key_id !== desired.agent_key_id) reasons.push('agent_key')
  if (applied.folders.toSorted().join('\n') !== desired.folders.toSorted().join('\n')) {
    reasons.push('shared_folders')
  }
  const desiredRuntime = desired.container_runtime ?? null
  if (desiredRuntime !== null && (applied.container_runtime ?? unrecordedRuntime) !== desiredRuntime) {
    reasons.push('isolation')
  }
  if ((applied.network ?? 'open') !== (desired.network ?? 'open')) reasons.push('egress')
  // Another runtime always has another image, so the image is not a second reason.
  if (applied.runtime === desired.runtime && applied.image_version !== desired.image_version) {
    reasons.push('image_version')
  }
  return reasons
}

export type PortRange = { first: number; last: number }

/** The lowest free port of the range; null if all are used. */
export function lowestFreePort(used: ReadonlySet<number>, { first, last }: PortRange): number | null {
  for (let port = first; port <= last; port += 1) if (!used.has(port)) return port
  return null
}

/**
 * When a lost agent may be started on another node: `limitSeconds` after its last sign of life. An agent whose
 * heartbeats arrive stays where it is, whatever the cluster reports about its node. Null: never.
 */
export function takeoverDue(
  waiting: { state: 'pending' | 'lost' } | null,
  { lastBeatAt, limitSeconds }: { lastBeatAt: number; limitSeconds: number },
): number | null {
  if (waiting?.state !== 'lost' || limitSeconds === 0) return null
  return lastBeatAt + limitSeconds * 1000
}

/** Times in milliseconds. `runningSince`: the start of the agent's oldest open run. `startedAt`: its container's. */
export type BusyAgent = { id: string; runningSince: number; startedAt: number }

/**
 * Since when each agent has had a run at every look, by agent. Runs may follow each other in between. A new container
 * starts anew.
 */
export function busySince(
  before: ReadonlyMap<string, number>,
  busy: readonly BusyAgent[],
): Map<string, number> {
  return new Map(
    busy.map(({ id, runningSince, startedAt }) => [id, Math.max(before.get(id) ?? runningSince, startedAt)]),
  )
}

/** Tolerated clock difference; a later time means that the clock was set back. */
const clockSkewMs = 60_000

/**
 * The condition under which a report may update the row: older reports are ignored. A row with a time in the
 * future means that the clock was set back; then any report counts. `strictly` excludes reports with the same
 * time.
 */
export function newsGuard(
  row: { observed_at: string },
  report: { at: string; strictly: boolean },
  now: Date,
): { observedUntil?: string; observedBefore?: string } {
  if (Date.parse(row.observed_at) - now.getTime() > clockSkewMs) return {}
  return report.strictly ? { observedBefore: report.at } : { observedUntil: report.at }
}

/** Exits within this time after which an agent stays down until someone starts it. */
export const restartLoop = { exits: 5, windowSeconds: 600 }

/** The exits that still count after another one at `at`, including that one. */
export function exitsWithin(recent: readonly string[], at: string): string[] {
  const from = Date.parse(at) - restartLoop.windowSeconds * 1000
  return [...recent.filter((exit) => Date.parse(exit) > from), at].slice(-restartLoop.exits)
}

export function isRestartLoop(recent: readonly string[]): boolean {
  return recent.length >= restartLoop.exits
}
