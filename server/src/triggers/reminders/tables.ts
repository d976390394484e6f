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
  /** Unique for an agent: message and time of a pending one whose request had no key. */
  derived_key: string | null
  execution_id: string | null
  fire_attempts: number
  /** `fire_at`, later after attempts that failed. */
  next_attempt_at: string
  error: string | null
  created_at: string
  fired_at: string | null
  cancelled_at: string | null
  /** While the result waits for its place in the conversation: until when a reply in progress is waited for. */
  deliver_until: string | null
}

export type ReminderTables = { reminders: RemindersTable }
