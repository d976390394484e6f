import type { BreakerState } from '@roost/contracts/runs/breaker'
import type { ExecutionErrorCode, ExecutionStatus } from '@roost/contracts/runs/executions'
import { secondsLater, timestamp } from '../../kit/clock.ts'

/** Consecutive runs refused by the provider before new ones are refused. */
export const failuresToOpen = 3
/** Failed calls within the window before the agent counts as unreachable. */
export const failedCallsToOpen = 5
export const callWindowSeconds = 60
export const firstWaitSeconds = 60
export const maxWaitSeconds = 30 * 60
/** Retry time for callers while a probe runs; its end is unknown. */
export const probeWaitSeconds = 10

/** The stored data of a breaker; its state follows from it and the time. */
export type Memory = {
  failureCount: number
  /** Transport: times of the failed calls within the window. */
  failedAt: readonly string[]
  openings: number
  /** Null while closed. */
  retryAt: string | null
  /** Dispatch: the run that was accepted while half open. */
  probe: string | null
}

export const blank: Memory = { failureCount: 0, failedAt: [], openings: 0, retryAt: null, probe: null }

export function stateOf({ retryAt }: Memory, now: Date): BreakerState {
  if (retryAt === null) return 'closed'
  return timestamp(now) < retryAt ? 'open' : 'half_open'
}

/** Whole seconds until it is half open; null unless it is open. */
export function secondsToRetry(memory: Memory, now: Date): number | null {
  if (memory.retryAt === null || stateOf(memory, now) !== 'open') return null
  return Math.max(1, Math.ceil((Date.parse(memory.retryAt) - now.getTime()) / 1000))
}

/**
 * What an ended run says about the credentials. `failure`: the provider refused them. `success`: they work.
 * `other`: another failure, which resets the streak. `neutral`: nothing.
 */
export type Verdict = 'failure' | 'success' | 'other' | 'neutral'

const refused: readonly ExecutionErrorCode[] = ['auth', 'billing']
/** The run never reached a provider, or it is unknown whether it did. */
const inconclusive: readonly ExecutionErrorCode[] = [
  'circuit_open',
  'queue_expired',
  'recipient_unreachable',
  'lease_expired',
  'agent_lost',
  'agent_stopped',
  'agent_deleted',
  'user_cancelled',
]

export function verdictOf(run: { status: ExecutionStatus; error_code: ExecutionErrorCode | null }): Verdict {
  if (run.status === 'success') return 'success'
  if (run.status !== 'failed') return 'neutral'
  if (run.error_code === null) return 'other'
  if (refused.includes(run.error_code)) return 'failure'
  return inconclusive.includes(run.error_code) ? 'neutral' : 'other'
}

/** The breaker after a run has ended; `mayOpen` is true when it is enabled. Null means no change. */
export function afterRun(
  memory: Memory,
  run: { id: string; verdict: Verdict },
  { now, mayOpen }: { now: Date; mayOpen: boolean },
): Memory | null {
  const { verdict } = run
  if (verdict === 'success') return isBlank(memory) ? null : blank
  const state = stateOf(memory, now)
  if (state === 'closed') {
    if (verdict === 'neutral') return null
    if (verdict === 'other') return isBlank(memory) ? null : blank
    const counted = { ...memory, failureCount: memory.failureCount + 1 }
    return mayOpen && counted.failureCount >= failuresToOpen ? opened(counted, now) : counted
  }
  // Runs from before the opening are ignored: only the probe decides.
  if (memory.probe !== run.id) return null
  if (verdict === 'failure') return opened({ ...memory, failureCount: memory.failureCount + 1 }, now)
  return { ...memory, probe: null }
}

export type Admission = { admit: true; memory: Memory | null } | { admit: false; retryAfterSeconds: number }

/** Whether a new run may be accepted. When half open, one run is accepted as the probe. */
export function admit(memory: Memory, executionId: string, now: Date): Admission {
  switch (stateOf(memory, now)) {
    case 'closed':
      return { admit: true, memory: null }
    case 'open':
      return { admit: false, retryAfterSeconds: secondsToRetry(memory, now) ?? firstWaitSeconds }
    case 'half_open':
      return memory.probe === null
        ? { admit: true, memory: { ...memory, probe: executionId } }
        : { admit: false, retryAfterSeconds: probeWaitSeconds }
  }
}

/** The breaker after an unanswered call over the link. Null means no change. */
export function afterFailedCall(memory: Memory, now: Date): Memory | null {
  const state = stateOf(memory, now)
  if (state === 'open') return null
  if (state === 'half_open') return opened({ ...memory, failureCount: memory.failureCount + 1 }, now)
  const failedAt = [...failuresInWindow(memory, now), timestamp(now)]
  const counted = { ...memory, failedAt, failureCount: failedAt.length }
  return failedAt.length >= failedCallsToOpen ? opened(counted, now) : counted
}

/** The shown count: for a closed transport breaker only failures within the window. */
export function countOf(memory: Memory, now: Date): number {
  if (memory.failedAt.length === 0 || memory.retryAt !== null) return memory.failureCount
  return failuresInWindow(memory, now).length
}

export function isBlank({ failureCount, openings, retryAt }: Memory): boolean {
  return failureCount === 0 && openings === 0 && retryAt === null
}

function failuresInWindow({ failedAt }: Memory, now: Date): string[] {
  const since = timestamp(secondsLater(now, -callWindowSeconds))
  return failedAt.filter((at) => at > since)
}

function opened(memory: Memory, now: Date): Memory {
  const openings = memory.openings + 1
  const wait = Math.min(firstWaitSeconds * 2 ** (openings - 1), maxWaitSeconds)
  return { ...memory, openings, retryAt: timestamp(secondsLater(now, wait)), probe: null, failedAt: [] }
}
