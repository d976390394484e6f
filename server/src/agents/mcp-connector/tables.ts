/** Agents without a row have the connector off. */
export type ConnectorsTable = {
  agent_id: string
  enabled: number
  expose_all_playbooks: number
  /** JSON array of names. */
  exposed_playbooks: string
  updated_at: string
}
