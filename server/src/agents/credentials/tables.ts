export type CredentialsTable = {
  agent_id: string
  /** Sealed JSON array of texts. */
  secrets_sealed: string
  updated_at: string
}
