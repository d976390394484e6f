/**
 * Paid chat: messages of strangers, each paid by x402.
 *
 * Owns the tables `paid_chats`, `paid_turns`, `paid_proofs` and `payments`. Promises that a proof pays for one run,
 * that nothing is collected for a run that failed, and that no reply is lost and none paid twice, wherever a
 * process dies. Refuses to know what a chain is: a facilitator behind the port looks at proofs and collects.
 */
export { paidRoutes } from './routes.ts'
export { createPaid, type Paid, type PaidDeps } from './service.ts'
