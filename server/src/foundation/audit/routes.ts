import {
  exportAuditLog,
  getAuditLogEntry,
  getAuditLogStats,
  listAuditLog,
  verifyAuditLog,
  verifyInternalAuditLog,
} from '@roost/contracts/foundation/audit'
import { answer, type Route, route, signedInRoute, streamAnswer } from '../../http/route.ts'
import { asFile, exportTypes } from './export.ts'
import type { AuditReads } from './reads.ts'

export function auditRoutes(reads: AuditReads): Route[] {
  return [
    signedInRoute(listAuditLog, async ({ query }) => {
      const { limit, offset, start_time, end_time, ...filter } = query
      const found = await reads.list(filter, { start_time, end_time }, { limit, offset })
      return answer({ ...found, limit, offset }, { headers: { 'x-total-count': String(found.total) } })
    }),
    signedInRoute(getAuditLogStats, ({ query }) => reads.stats(query)),
    signedInRoute(exportAuditLog, async ({ query: { format, ...window } }) =>
      streamAnswer(exportTypes[format], asFile(reads.batches(window), format), {
        headers: { 'content-disposition': `attachment; filename="roost-audit-log.${format}"` },
      }),
    ),
    signedInRoute(getAuditLogEntry, ({ params }) => reads.one(params.event_id)),
    signedInRoute(verifyAuditLog, ({ query, request }) => reads.verify(query, request.signal)),
  ]
}

/** For the internal listener. */
export function internalAuditRoutes(reads: AuditReads): Route[] {
  return [route(verifyInternalAuditLog, ({ request }) => reads.verify({}, request.signal))]
}
