import type { RecreateReason } from '@roost/contracts/agents/agent'
import type { EgressMode } from '@roost/contracts/agents/egress'
import { type FolderMount, folderMark } from './folder-mount.ts'

/** What a container was made with, or would be. */
export type Made = {
  cpu: string
  memory: string
  full_capabilities: boolean
  runtime: string
  agent_key_id: string | null
  image_version: string
  folders: string[]
  /** Absent in what was made before there was a choice: open. */
  network?: 'open' | 'closed'
}

/** The agent's container as the engine shows it; null when there is none. */
export type Seen = { id: string; status: 'created' | 'running' | 'stopped' } | null

export const steps = ['stop', 'remove', 'create', 'start'] as const
export type Step = (typeof steps)[number]

/**
 * What makes what is seen into what is wanted. A container that runs is left alone: what only a new one can
 * take waits for the next start.
 */
export function plan(wanted: {
  desired: 'running' | 'stopped'
  /** Kept down because it ended too often. */
  held: boolean
  seen: Seen
  /**
   * Its restart policy may be about to start it: a container that stands still between two starts looks like
   * one that was stopped, so the engine is told in any case.
   */
  mayRestart?: boolean
  /** Why the container must be made anew; empty when it may be kept. */
  reasons: readonly RecreateReason[]
}): Step[] {
  const { desired, held, seen, mayRestart, reasons } = wanted
  if (desired === 'stopped' || held) {
    return seen?.status === 'running' || (mayRestart && seen?.status === 'stopped') ? ['stop'] : []
  }
  if (!seen) return ['create', 'start']
  if (seen.status === 'running') return []
  return reasons.length > 0 ? ['remove', 'create', 'start'] : ['start']
}

type Wanting = Omit<Made, 'image_version' | 'folders' | 'network'> & { egress_mode: EgressMode }

/** What a container made now would be made with. */
export function wantedFor(agent: Wanting, image_version: string, mounts: readonly FolderMount[]): Made {
  const { cpu, memory, full_capabilities, runtime, agent_key_id } = agent
  const folders = mounts.map(folderMark)
  const network = networkFor(agent.egress_mode)
  return { cpu, memory, full_capabilities, runtime, agent_key_id, image_version, folders, network }
}

/** In which network the container of an agent stands. */
export function networkFor(mode: EgressMode): 'open' | 'closed' {
  return mode === 'enforce' ? 'closed' : 'open'
}

/** Why the container must be made anew at the next start; empty while there is none. */
export function recreateReasonsOf(applied: Made | null, wanted: Made): RecreateReason[] {
  if (!applied) return []
  const reasons: RecreateReason[] = []
  if (applied.cpu !== wanted.cpu || applied.memory !== wanted.memory) reasons.push('resources')
  if (applied.full_capabilities !== wanted.full_capabilities) reasons.push('capabilities')
  if (applied.runtime !== wanted.runtime) reasons.push('runtime')
  if (applied.agent_key_id !== wanted.agent_key_id) reasons.push('agent_key')
  if (applied.folders.toSorted().join('\n') !== wanted.folders.toSorted().join('\n')) {
    reasons.push('shared_folders')
  }
  if ((applied.network ?? 'open') !== (wanted.network ?? 'open')) reasons.push('egress')
  // Another runtime has another image, which is no reason of its own.
  if (applied.runtime === wanted.runtime && applied.image_version !== wanted.image_version) {
    reasons.push('image_version')
  }
  return reasons
}

export type PortRange = { first: number; last: number }

/** The lowest free port of the range; null when none is. */
export function lowestFreePort(taken: ReadonlySet<number>, { first, last }: PortRange): number | null {
  for (let port = first; port <= last; port += 1) if (!taken.has(port)) return port
  return null
}

/** How far clocks may be apart before a time in the future is taken for a clock that was set back. */
const clockSkewMs = 60_000

/**
 * What a row says of its last news, as a condition on what comes now: older news is ignored, unless the row's
 * is from a future that can only mean that the clock was set back since. `strictly` leaves out the same time.
 */
export function newsGuard(
  row: { observed_at: string },
  news: { at: string; strictly: boolean },
  now: Date,
): { observedUntil?: string; observedBefore?: string } {
  if (Date.parse(row.observed_at) - now.getTime() > clockSkewMs) return {}
  return news.strictly ? { observedBefore: news.at } : { observedUntil: news.at }
}

/** So many ends by itself within this time, and it stays down until somebody starts it. */
export const restartLoop = { exits: 5, windowSeconds: 600 }

/** The ends that still count when one more happened at `at`, that one included. */
export function exitsWithin(recent: readonly string[], at: string): string[] {
  const from = Date.parse(at) - restartLoop.windowSeconds * 1000
  return [...recent.filter((exit) => Date.parse(exit) > from), at].slice(-restartLoop.exits)
}

export function isRestartLoop(recent: readonly string[]): boolean {
  return recent.length >= restartLoop.exits
}
