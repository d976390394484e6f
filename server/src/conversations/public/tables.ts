export type PublicLinksTable = {
  id: string
  agent_id: string
  /** SHA-256 of the token, by which a visitor's call finds the link. */
  token_hash: string
  /** Sealed by the vault, so that the owner can be shown the address again. */
  token_sealed: string
  name: string | null
  enabled: number
  require_email: number
  expires_at: string | null
  daily_message_limit: number | null
  /** Address or user name of who made it. */
  created_by: string
  created_at: string
  total_messages: number
  last_used_at: string | null
  /** The day (UTC, `2026-01-31`) that `day_messages` counts; null before the first message. */
  day: string | null
  day_messages: number
  /** People who have spoken on it and are forgotten since. */
  past_people: number
}

/** Somebody who has spoken on a link, or has confirmed an address for it. */
export type PublicVisitorsTable = {
  id: string
  link_id: string
  /** SHA-256 of the `session_id` that the browser keeps; null for a confirmed address. */
  session_hash: string | null
  /** Confirmed; lower-cased. Null on an open link. */
  email: string | null
  created_at: string
  last_message_at: string | null
}

export type PublicSessionTokensTable = { token_hash: string; visitor_id: string; expires_at: string }

/** Which link a run was started by. */
export type PublicTurnsTable = {
  execution_id: string
  link_id: string
  /** Of the session token that started it; null on an open link. */
  token_hash: string | null
}

export type PublicTables = {
  public_links: PublicLinksTable
  public_visitors: PublicVisitorsTable
  public_session_tokens: PublicSessionTokensTable
  public_turns: PublicTurnsTable
  /** Rows of another feature: only whether they are there still. */
  executions: { id: string }
  chat_sessions: { id: string; current_key: string | null }
}
