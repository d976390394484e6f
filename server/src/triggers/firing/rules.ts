import type { PreCheckAnswer } from '@roost/contracts/link/messages'
import type { ExecutionErrorCode } from '@roost/contracts/runs/executions'

/** How long a caller by hand or webhook waits for the record of its fire. */
export const recordSeconds = 10
/** The upper limit of the doubled delay after a rate limit. */
export const maxRateLimitDelaySeconds = 300

/** Why a fire of the clock makes no run. */
export type Gate = { outcome: 'suppressed' | 'skipped'; reason: string }

export type GateFacts = {
  isEnabled: boolean
  isRegistrable: boolean
  isAutonomous: boolean
  /** Consecutive failed git syncs of an agent whose schedules they freeze; null for other agents. */
  frozenAfter: number | null
  isRunning: boolean
} & PreviousRunFacts

export type PreviousRunFacts = {
  /** One of several missed times that all run, so it waits in the queue behind the others. */
  isCatchUp: boolean
  /** A run of an earlier fire has not ended. */
  isPreviousActive: boolean
}

/** The first closed gate in their fixed order; null lets the fire through to the pre-check. */
export function closedGate(facts: GateFacts): Gate | null {
  if (!facts.isEnabled) return suppressed('schedule_disabled')
  if (!facts.isRegistrable) return suppressed('invalid_cron_expression')
  if (!facts.isAutonomous) return suppressed('autonomy_off')
  if (facts.frozenAfter !== null) return skipped(`git_sync_frozen: ${facts.frozenAfter} failed syncs`)
  if (!facts.isRunning) return skipped('agent_not_running')
  return previousRunGate(facts)
}

/** The gate that concurrent fires can close, so it is also checked while the agent's queue is locked. */
export function previousRunGate({ isCatchUp, isPreviousActive }: PreviousRunFacts): Gate | null {
  return isPreviousActive && !isCatchUp ? skipped('previous_run_active') : null
}

export function suppressed(reason: string): Gate {
  return { outcome: 'suppressed', reason }
}

export function skipped(reason: string): Gate {
  return { outcome: 'skipped', reason }
}

/**
 * The decision of the pre-check hook: the message of this fire, or `empty`. Null without a hook, and also after a
 * failed one, because a broken hook must not silence a schedule.
 */
export function readPreCheck(answer: PreCheckAnswer | null): { message: string } | 'empty' | null {
  if (!answer?.hook_present || answer.exit_code !== 0) return null
  const message = answer.stdout.trim()
  return message === '' ? 'empty' : { message }
}

/** Seconds until the next attempt. */
export function retryDelaySeconds(configured: number, errorCode: ExecutionErrorCode | null): number {
  return errorCode === 'rate_limited' ? Math.min(2 * configured, maxRateLimitDelaySeconds) : configured
}

export type RetryFacts = {
  attemptNumber: number
  /** Of the schedule; null if it was deleted. */
  maxRetries: number | null
  errorCode: ExecutionErrorCode | null
  /** The clock fired the first attempt. */
  isByClock: boolean
  isEnabled: boolean
  isAutonomous: boolean
}

/** Whether a failed run is tried again. */
export function isRetried(facts: RetryFacts): boolean {
  if (facts.maxRetries === null || facts.attemptNumber > facts.maxRetries) return false
  if (facts.errorCode === 'recipient_unreachable') return false
  return refusalOfRetry(facts) === null
}

/** The reason why a pending retry is no longer allowed; null if it is allowed. */
export function refusalOfRetry(
  facts: Pick<RetryFacts, 'maxRetries' | 'isByClock' | 'isEnabled' | 'isAutonomous'>,
): string | null {
  if (facts.maxRetries === null) return 'The schedule was deleted.'
  if (!facts.isByClock) return null
  if (!facts.isEnabled) return 'The schedule was disabled.'
  return facts.isAutonomous ? null : 'The autonomy of the agent was switched off.'
}
