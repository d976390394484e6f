export type SessionRow = {
  jti: string
  user_id: string
  /** The boot that signed the session, which ends with it. Null for sessions older than this column. */
  epoch: string | null
  mode: 'admin' | 'email'
  created_at: string
  expires_at: string
  /** The row stays until `expires_at`, so that the token stays refused. */
  revoked_at: string | null
}

export type SessionTables = { sessions: SessionRow }
