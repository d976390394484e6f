/**
 * Audit log: who did what, in a hash chain that reveals changes.
 *
 * Owns the tables `audit_log`, `audit_head` and `audit_guard`. Promises that recording never waits and that stored
 * entries stay unchanged until the retention sweep removes them. Does not decide who may read the log or which
 * actions get an entry: the web layer and the features do.
 */
export type { AuditEntry } from './entry.ts'
export { type AuditReads, createAuditReads } from './reads.ts'
export { auditRetention } from './retention.ts'
export { auditRoutes, internalAuditRoutes } from './routes.ts'
export { type Audit, createAudit } from './service.ts'
