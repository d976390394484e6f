import type { ReminderStatus } from '@roost/contracts/triggers/reminders'

export type RemindersTable = {
  id: string
  agent_id: string
  message: string
  fire_at: string
  status: ReminderStatus
  model: string | null
  timeout_seconds: number | null
  /** JSON array. */
  allowed_tools: string | null
  /** The conversation in which it was set. */
  origin_session_id: string | null
  /** JSON `Source` of the run. */
  source: string
  /** Hash of message and time of a pending reminder without idempotency key; unique per agent. */
  derived_key: string | null
  execution_id: string | null
  fire_attempts: number
  /** `fire_at`, or later after failed attempts. */
  next_attempt_at: string
  error: string | null
  created_at: string
  fired_at: string | null
  cancelled_at: string | null
  /** While the result is undelivered: the end of the wait for a reply in progress. */
  deliver_until: string | null
}

export type ReminderTables = { reminders: RemindersTable }
