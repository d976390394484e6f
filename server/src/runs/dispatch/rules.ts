import type { RunMetadata } from '@roost/contracts/link/runs'
import type { Trigger } from '@roost/contracts/runs/executions'

/** An agent that calls an agent that calls an agent …: so many hops are let through. */
export const maxChainDepth = 8
/** A run that waited this long is failed. */
export const queueExpiryHours = 24
/** Beyond the run's own timeout, before a slot is taken back from an agent that is out of reach. */
export const slotGraceSeconds = 300

const unbounded: readonly Trigger[] = ['schedule', 'retry', 'loop', 'reminder', 'validation']

/** Runs that the platform starts by itself wait in the same queue and do not count against its bound. */
export function isBounded(trigger: Trigger): boolean {
  return !unbounded.includes(trigger)
}

/** The timeout of a run: what was asked, clamped to the agent's cap. */
export function effectiveTimeout(asked: number | null | undefined, cap: number): number {
  return asked == null ? cap : Math.min(asked, cap)
}

/**
 * Which waiting runs are handed out: in order, at most `free`, and of runs with one serial key only the
 * first, and none while another of its key is running.
 */
export function pick(
  waiting: readonly { id: string; serial_key: string | null }[],
  runningKeys: readonly (string | null)[],
  free: number,
): string[] {
  const taken = new Set(runningKeys.filter((key) => key !== null))
  const picked: string[] = []
  for (const { id, serial_key } of waiting) {
    if (picked.length >= free) break
    if (serial_key !== null && taken.has(serial_key)) continue
    if (serial_key !== null) taken.add(serial_key)
    picked.push(id)
  }
  return picked
}

/** What becomes of lines that an agent sends: which of them are new, or that some are missing before them. */
export type Placement = { kind: 'append'; skip: number } | { kind: 'nothing' } | { kind: 'gap' }

/** `from` is the number of the first of `count` lines; `last` the number of the last that is stored. */
export function placeLines(from: number, count: number, last: number): Placement {
  if (from > last + 1) return { kind: 'gap' }
  const skip = last + 1 - from
  return skip >= count ? { kind: 'nothing' } : { kind: 'append', skip }
}

/** What a running row becomes when its lease has run out. */
export type Verdict = 'leave' | 'requeue' | 'lost' | 'overdue' | 'forgotten'

/**
 * So many passes in a row find a lease run out before anybody is judged: half a minute in which an agent dials
 * in again and says what it holds. The platform itself may have been away, or the machine asleep, and the
 * result of the run may be on its way. Passes are counted because a clock that jumped has given nobody time.
 */
export const passesBeforeVerdict = 4

/**
 * A run whose runtime was not spawned, as far as is known, is left to its agent: linked without the run, the
 * agent does not have it, and it goes back to its place in the queue; out of reach, the agent says so itself
 * when it dials in, for as long as a run may wait in the queue. A spawned run is never handed out again by itself. While its container runs and its link
 * is down it is left alone until its slot's time is over.
 */
export function judgeExpired(run: {
  isSpawned: boolean
  /** The agent has a greeted link and did not name the run in its beats. */
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

/** What a result reports beside its text, as columns. The broker's own count wins where it has one. */
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
