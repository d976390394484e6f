/**
 * Fleet: all agents as one: how they are, what they cost, with what they pay, and restarting, stopping and
 * halting them together.
 *
 * Owns no table. Promises that one restart or stop of the fleet goes on at a time, over all processes, and that
 * an emergency stop ends it and never stops half-way itself. Refuses to know how an agent is started: that is
 * the lifecycle, and how it is judged: that is `monitoring`.
 */
export { bulkActionRoutes } from './routes.ts'
export { type BulkActions, type BulkActionsDeps, createBulkActions } from './service.ts'
