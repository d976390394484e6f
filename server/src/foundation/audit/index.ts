/**
 * The audit log: who did what, in a chain that shows when somebody changed it.
 *
 * Owns the entries, their order and the end of the chain. Promises that recording never waits and that what
 * is stored stays as it is until the retention sweep removes it. Refuses to know who may read it, and what
 * deserves an entry: the web layer and the features say so.
 */
export type { AuditEntry } from './entry.ts'
export { type AuditReads, createAuditReads } from './reads.ts'
export { auditRetention } from './retention.ts'
export { auditRoutes, internalAuditRoutes } from './routes.ts'
export { type Audit, createAudit } from './service.ts'
