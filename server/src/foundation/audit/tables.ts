export type AuditTables = {
  audit_log: AuditRow
  /** One row: the end of the chain. Locked before an append. */
  audit_head: { id: number; last_id: number; last_hash: string | null }
  /**
   * One row. `sweep_before` is set only inside the transaction of a retention sweep. The other two identify the last
   * removed entry; they are 0 and null before the first sweep.
   */
  audit_guard: { id: number; sweep_before: string | null; swept_id: number; swept_hash: string | null }
}

export type AuditRow = {
  id: number
  event_id: string
  event_type: string
  event_action: string
  actor_type: string
  actor_id: string | null
  actor_email: string | null
  actor_ip: string | null
  mcp_key_id: string | null
  mcp_key_name: string | null
  mcp_scope: string | null
  target_type: string | null
  target_id: string | null
  timestamp: string
  /** JSON object. */
  details: string
  request_id: string | null
  source: string
  endpoint: string | null
  status: number | null
  previous_hash: string | null
  entry_hash: string
}
