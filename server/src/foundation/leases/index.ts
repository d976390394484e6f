/**
 * Leases: named locks over all processes, each held by one process at a time.
 *
 * Owns the table `leases`. Promises that a lease expires by itself when its holder dies, and that its token grows
 * with every grant, which tells an overtaken holder from its successor.
 */
export { type Hold, type HoldDeps, holdLease } from './hold.ts'
export { createLeases, type Lease, type Leases } from './service.ts'
