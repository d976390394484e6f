/**
 * Paid chat: strangers send messages and pay for each through x402.
 * Owns the tables `paid_chats`, `paid_turns`, `paid_proofs` and `payments`. A proof pays for one run. A failed run is
 * never charged. No reply is lost or charged twice, even when a process dies. Blockchains stay outside: a facilitator
 * behind the port verifies proofs and collects.
 */

export { sealedColumns } from './presented.ts'
export { paidRoutes } from './routes.ts'
export { createPaid, type Paid, type PaidDeps } from './service.ts'
