import {
  type CreateReminder,
  maxAheadSeconds,
  minAheadSeconds,
  type Reminder,
} from '@roost/contracts/triggers/reminders'
import { secondsLater, timestamp } from '../../kit/clock.ts'
import { invalidField } from '../../kit/fault.ts'
import type { RemindersTable } from './store.ts'

export const maxAttempts = 5

/** The time that a result waits for a reply in progress. */
export const deliveryWaitSeconds = 120

/** The time of the fire. Throws `validation_error` if it is too near or too far. */
export function fireTime({ fire_at, delay_seconds }: CreateReminder, now: Date): string {
  const at = fire_at ?? timestamp(secondsLater(now, delay_seconds ?? 0))
  const ahead = (Date.parse(at) - now.getTime()) / 1000
  if (ahead >= minAheadSeconds && ahead <= maxAheadSeconds) return at
  throw invalidField(['fire_at'], `must lie ${minAheadSeconds} seconds to 30 days ahead`)
}

/** Seconds until the next attempt: one minute, doubled after each failure; null after the last one. */
export function retryAfter(failedAttempts: number): number | null {
  return failedAttempts >= maxAttempts ? null : 60 * 2 ** (failedAttempts - 1)
}

/** Of its agent, and of the caller: whether the conversation that set the reminder is named. */
export type ViewState = { agentName: string; isAutonomous: boolean; namesOrigin: boolean; now: Date }

export function viewOf(
  row: RemindersTable,
  { agentName, isAutonomous, namesOrigin, now }: ViewState,
): Reminder {
  const isDue = row.status === 'pending' && Date.parse(row.fire_at) <= now.getTime()
  return {
    id: row.id,
    agent_name: agentName,
    message: row.message,
    fire_at: row.fire_at,
    status: row.status,
    autonomy_hold: isDue && !isAutonomous,
    model: row.model,
    timeout_seconds: row.timeout_seconds,
    // Stored by this feature from a list of names.
    allowed_tools: row.allowed_tools === null ? null : (JSON.parse(row.allowed_tools) as string[]),
    origin_session_id: namesOrigin ? row.origin_session_id : null,
    execution_id: row.execution_id,
    fire_attempts: row.fire_attempts,
    error: row.error,
    created_at: row.created_at,
    fired_at: row.fired_at,
    cancelled_at: row.cancelled_at,
  }
}
