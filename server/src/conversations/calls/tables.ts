import type { SealedText } from '../../foundation/vault/index.ts'

/** The telephone account of an agent. Booleans are 0 or 1, times ISO 8601 UTC. */
export type CallBindingsTable = {
  agent_id: string
  account_sid: string
  /** Sealed. */
  auth_token: SealedText
  from_number: string
  daily_call_cap: number
  /** Null means the agent's name. */
  display_name: string | null
  enabled: number
  updated_at: string
}

/**
 * `placing`: the provider is being asked. `ringing`: it has accepted the call. `talking`: the media stream is
 * connected. `ended`: the execution has ended too.
 */
export type CallState = 'placing' | 'ringing' | 'talking' | 'ended'

export type CallsTable = {
  id: string
  agent_id: string
  execution_id: string
  state: CallState
  /** Copied from the binding, which may change during the call. */
  account_sid: string
  /** Sealed. Null when no more status updates are expected. */
  auth_token: SealedText | null
  from_number: string
  to_number: string
  display_name: string | null
  context: string | null
  process_transcript: number
  /** Null also after a failed call, which frees its label. */
  dedup_label: string | null
  /** 1 when the call counts against the daily cap, which refused calls do not. */
  is_counted: number
  /** JSON of the caller's source. */
  source: string
  /** SHA-256 of the ticket for the media stream. Null after use. */
  ticket_hash: string | null
  provider_call_id: string | null
  /** 1 when the provider has reported the end. */
  is_over: number
  created_at: string
  answered_at: string | null
  ended_at: string | null
  /** When the next step is overdue; the process that carries the call renews it. Null after the end. */
  deadline_at: string | null
  /** Whether the transcript must be given to the agent. */
  follow_up: 'none' | 'due' | 'done'
}

/** The transcript during the call; afterwards it is in the execution's response. */
export type CallLinesTable = { call_id: string; n: number; role: 'user' | 'assistant'; text: string }

export type CallTables = { call_bindings: CallBindingsTable; calls: CallsTable; call_lines: CallLinesTable }
