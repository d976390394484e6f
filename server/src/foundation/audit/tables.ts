export type AuditTables = {
  audit_log: AuditRow
  /** One row: the end of the chain. Whoever appends locks it first. */
  audit_head: { id: number; last_id: number; last_hash: string | null }
  /**
   * One row. `sweep_before` is set only inside the transaction of a retention sweep; the other two name the
   * last entry that a sweep has removed, 0 and null before the first one.
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
