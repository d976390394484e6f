import {
  type AttemptStatus,
  type AttemptsBody,
  type AttemptVariant,
  attemptsKeptDays,
} from '@roost/contracts/runs/attempts'
import type { CheckResult } from './tables.ts'

export const endedStatuses = ['done', 'failed', 'cancelled'] as const satisfies AttemptStatus[]

export function isEnded(status: AttemptStatus): boolean {
  const ended: readonly AttemptStatus[] = endedStatuses
  return ended.includes(status)
}

export type PlannedAttempt = { message: string; variant: AttemptVariant }

/** Each message with each variant, `repeats` times. Attempts of one message are adjacent. */
export function plannedAttempts({
  messages,
  variants,
  repeats,
}: Pick<AttemptsBody, 'messages' | 'variants' | 'repeats'>): PlannedAttempt[] {
  return messages.flatMap((message) =>
    variants.flatMap((variant) => Array.from({ length: repeats }, () => ({ message, variant }))),
  )
}

export type Candidate = {
  number: number
  status: AttemptStatus
  hasRecord: boolean
  costMicros: number
  durationMs: number | null
  check: CheckResult | null
}

/** `hasCheck`: the set has a check. */
export function isPassed({ status, check }: Pick<Candidate, 'status' | 'check'>, hasCheck: boolean): boolean {
  return status === 'done' && (!hasCheck || check?.exit_code === 0)
}

/**
 * The best attempt: of those that passed the lowest cost, then the shortest run, then the lowest number. Null if none
 * passed.
 */
export function bestOf(candidates: readonly Candidate[], hasCheck: boolean): number | null {
  const passed = candidates.filter((each) => each.hasRecord && isPassed(each, hasCheck))
  const [best] = passed.toSorted(
    (a, b) =>
      a.costMicros - b.costMicros ||
      (a.durationMs ?? Number.MAX_SAFE_INTEGER) - (b.durationMs ?? Number.MAX_SAFE_INTEGER) ||
      a.number - b.number,
  )
  return best?.number ?? null
}

/** When a set whose attempts have ended is discarded. */
export function expiryOf(doneAt: string): Date {
  return new Date(Date.parse(doneAt) + attemptsKeptDays * 86_400_000)
}
