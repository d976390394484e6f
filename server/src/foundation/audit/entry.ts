import type { AuditActorType, AuditSource } from '@roost/contracts/foundation/audit'
import type { AuditType } from '@roost/contracts/kit/endpoint'

/** Details hold names, never secret values. */
export type AuditEntry = {
  event_type: AuditType
  event_action: string
  actor_type: AuditActorType
  actor_id?: string | null
  actor_email?: string | null
  actor_ip?: string | null
  mcp_key_id?: string | null
  mcp_key_name?: string | null
  mcp_scope?: string | null
  target_type?: string | null
  target_id?: string | null
  details?: Record<string, unknown>
  request_id?: string | null
  source: AuditSource
  endpoint?: string | null
  status?: number | null
}
