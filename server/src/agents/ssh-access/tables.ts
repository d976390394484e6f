/** Keys that may log in over SSH until they expire. */
export type SshKeysTable = {
  id: string
  agent_id: string
  public_key: string
  created_at: string
  expires_at: string
}
