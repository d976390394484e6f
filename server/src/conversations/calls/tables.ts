/** With which account an agent calls. Booleans are 0 or 1, times ISO 8601 UTC. */
export type CallBindingsTable = {
  agent_id: string
  account_sid: string
  /** Sealed. */
  auth_token: string
  from_number: string
  daily_call_cap: number
  /** Null: the agent's name. */
  display_name: string | null
  enabled: number
  updated_at: string
}

/**
 * `placing`: the provider is asked; `ringing`: it has taken the call; `talking`: its sound is streamed here;
 * `ended`: so is its execution.
 */
export type CallState = 'placing' | 'ringing' | 'talking' | 'ended'

export type CallsTable = {
  id: string
  agent_id: string
  execution_id: string
  state: CallState
  /** Of the binding, as it was when the call was made: it may change while the call goes on. */
  account_sid: string
  /** Sealed. Null once the provider has nothing more to tell. */
  auth_token: string | null
  from_number: string
  to_number: string
  display_name: string | null
  context: string | null
  process_transcript: number
  /** Null as well for a call that came to nothing: its label is free again. */
  dedup_label: string | null
  /** Counts against the day's cap: the provider has not refused it. */
  is_counted: number
  /** JSON of who asked for it. */
  source: string
  /** SHA-256 of the ticket with which its sound is streamed. Null once it was used. */
  ticket_hash: string | null
  provider_call_id: string | null
  /** The provider has told that it is over. */
  is_over: number
  created_at: string
  answered_at: string | null
  ended_at: string | null
  /** Then something should have happened; who carries the call puts it off. Null once it has ended. */
  deadline_at: string | null
  /** Whether the agent is to be given what was said: not, still, or it was. */
  follow_up: 'none' | 'due' | 'done'
}

/** What was said, in order, while the call goes on; then it stands in the response of the execution. */
export type CallLinesTable = { call_id: string; n: number; role: 'user' | 'assistant'; text: string }

export type CallTables = { call_bindings: CallBindingsTable; calls: CallsTable; call_lines: CallLinesTable }
