import type { RunMetadata } from '@roost/contracts/link/runs'
import type { Trigger } from '@roost/contracts/runs/executions'

/** Maximum chain of agents that call agents. */
export const maxChainDepth = 8
/** A run queued for longer fails. */
export const queueExpiryHours = 24
/** Extra time after a run's timeout before the slot of an offline agent is freed. */
export const slotGraceSeconds = 300

const unbounded: readonly Trigger[] = ['schedule', 'retry', 'loop', 'reminder', 'validation']

/** False for runs that the platform starts: they use the same queue without its limit. */
export function isBounded(trigger: Trigger): boolean {
  return !unbounded.includes(trigger)
}

/** The requested timeout, limited to the agent's cap. */
export function effectiveTimeout(requested: number | null | undefined, cap: number): number {
  return requested == null ? cap : Math.min(requested, cap)
}

/**
 * Selects the queued runs to hand out: in order, at most `free`. Of runs with one serial key only the first
 * is selected, and none while another with its key is running.
 */
export function pick(
  waiting: readonly { id: string; serial_key: string | null }[],
  runningKeys: readonly (string | null)[],
  free: number,
): string[] {
  const busyKeys = new Set(runningKeys.filter((key) => key !== null))
  const picked: string[] = []
  for (const { id, serial_key } of waiting) {
    if (picked.length >= free) break
    if (serial_key !== null && busyKeys.has(serial_key)) continue
    if (serial_key !== null) busyKeys.add(serial_key)
    picked.push(id)
  }
  return picked
}

/** How to store lines from an agent: the new ones, nothing, or nothing because of a gap before them. */
export type Placement = { kind: 'append'; skip: number } | { kind: 'nothing' } | { kind: 'gap' }

/** `from` is the number of the first of `count` lines; `last` is the last stored number. */
export function placeLines(from: number, count: number, last: number): Placement {
  if (from > last + 1) return { kind: 'gap' }
  const skip = last + 1 - from
  return skip >= count ? { kind: 'nothing' } : { kind: 'append', skip }
}

/** The verdict on a running row with an expired lease. */
export type Verdict = 'leave' | 'requeue' | 'lost' | 'overdue' | 'forgotten'

/**
 * Consecutive passes that must find a lease expired before the verdict. At one pass every 10 s, an agent has half a
 * minute to reconnect after an outage of the platform or a sleep of the machine. Passes are counted because the
 * clock may jump.
 */
export const passesBeforeVerdict = 4

/**
 * A run without a known runtime is queued again when its linked agent does not hold it, and waits for an offline
 * agent until the queue expiry. A run with a runtime never restarts. It is lost with its container or on a linked
 * agent, and keeps its slot until the grace period is over while only the link is down.
 */
export function judgeExpired(run: {
  isSpawned: boolean
  /** The agent is connected and did not name the run in its heartbeats. */
  isLinked: boolean
  isContainerRunning: boolean
  startedAt: Date
  timeoutSeconds: number
  now: Date
}): Verdict {
  const slotEnds = run.startedAt.getTime() + (run.timeoutSeconds + slotGraceSeconds) * 1000
  if (!run.isSpawned) {
    if (run.isLinked) return 'requeue'
    const forgottenAt = run.startedAt.getTime() + queueExpiryHours * 3_600_000
    return run.now.getTime() >= forgottenAt ? 'forgotten' : 'leave'
  }
  if (run.isLinked || !run.isContainerRunning) return 'lost'
  return run.now.getTime() >= slotEnds ? 'overdue' : 'leave'
}

/** The figures of a result, as columns. The broker's own figures take precedence. */
export function metricsOf(metadata: RunMetadata, isMetered: boolean) {
  const reported = {
    num_turns: metadata.num_turns ?? null,
    compact_events: metadata.compact_events ? JSON.stringify(metadata.compact_events) : null,
    ...(metadata.context_tokens ? { context_used: metadata.context_tokens } : {}),
    ...(metadata.context_window ? { context_max: metadata.context_window } : {}),
    ...(metadata.model_used ? { model_used: metadata.model_used } : {}),
  }
  if (isMetered) return reported
  return {
    ...reported,
    cost_micros: metadata.cost_usd == null ? null : Math.round(metadata.cost_usd * 1_000_000),
    input_tokens: metadata.input_tokens ?? null,
    output_tokens: metadata.output_tokens ?? null,
    cache_creation_tokens: metadata.cache_creation_tokens ?? null,
    cache_read_tokens: metadata.cache_read_tokens ?? null,
  }
}
