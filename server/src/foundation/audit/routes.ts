import {
  exportAuditLog,
  getAuditLogEntry,
  getAuditLogStats,
  listAuditLog,
  recordAuditEntry,
  verifyAuditLog,
  verifyInternalAuditLog,
} from '@roost/contracts/foundation/audit'
import { answer, type Route, route, signedInRoute, streamAnswer } from '../../http/route.ts'
import { asFile, exportTypes } from './export.ts'
import type { AuditReads } from './reads.ts'
import type { Audit } from './service.ts'

export function auditRoutes(reads: AuditReads): Route[] {
  return [
    signedInRoute(listAuditLog, async ({ query }) => {
      const { limit, offset, start_time, end_time, routine, ...filter } = query
      const found = await reads.list(filter, { start_time, end_time, routine }, { limit, offset })
      return answer({ ...found, limit, offset }, { headers: { 'x-total-count': String(found.total) } })
    }),
    signedInRoute(getAuditLogStats, ({ query }) => reads.stats(query)),
    signedInRoute(exportAuditLog, async ({ query: { format, ...window } }) =>
      streamAnswer(exportTypes[format], asFile(reads.batches(window), format), {
        headers: { 'content-disposition': `attachment; filename="roost-audit-log.${format}"` },
      }),
    ),
    signedInRoute(getAuditLogEntry, ({ params }) => reads.one(params.event_id)),
    signedInRoute(verifyAuditLog, ({ body, request }) => {
      const range = { start_id: body.start_id ?? undefined, end_id: body.end_id ?? undefined }
      return reads.verify(range, request.signal)
    }),
  ]
}

/** For the internal listener. */
export function internalAuditRoutes(reads: AuditReads, audit: Pick<Audit, 'record'>): Route[] {
  return [
    route(verifyInternalAuditLog, ({ request }) => reads.verify({}, request.signal)),
    route(recordAuditEntry, async ({ body }) => {
      const { actor_agent_name, details, ...entry } = body
      const event_id = audit.record({
        ...entry,
        actor_type: actor_agent_name ? 'agent' : entry.mcp_key_id ? 'mcp_client' : 'system',
        source: entry.event_type === 'mcp_operation' ? 'mcp' : 'system',
        details: { ...details, ...(actor_agent_name ? { actor_agent: actor_agent_name } : {}) },
      })
      return { event_id, status: 'logged' as const }
    }),
  ]
}
