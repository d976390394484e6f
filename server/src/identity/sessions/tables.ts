export type SessionRow = {
  jti: string
  user_id: string
  /** The boot that signed it: a session of another one is over. Null for one older than this column. */
  epoch: string | null
  mode: 'admin' | 'email'
  created_at: string
  expires_at: string
  /** Kept until `expires_at`, so that the token stays refused for as long as it would have lived. */
  revoked_at: string | null
}

export type SessionTables = { sessions: SessionRow }
