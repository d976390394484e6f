/**
 * Egress: the agents' outbound traffic through the platform.
 *
 * Owns the tables of rules, bound credentials, the log and the authority. The value of a bound credential is
 * sent only to its hosts and never returned. Each host is resolved once, and internal addresses are never
 * connected to. In mode `enforce`, denied hosts are not even resolved. Off by default; then it affects no
 * agent. Connections without a bound credential are never inspected.
 */
import { sealedColumns as ofAuthority } from './authority.ts'
import { sealedColumns as ofCredentials } from './policies.ts'

export type { BoundCredentials } from './bound-credentials.ts'
export { createEgress, type Egress, type EgressDeps } from './compose.ts'
export type { EgressProxy } from './proxy.ts'
export { egressRoutes, internalEgressRoutes } from './routes.ts'
export type { EgressService } from './service.ts'
export const sealedColumns = [...ofAuthority, ...ofCredentials]
