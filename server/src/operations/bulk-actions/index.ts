/**
 * Bulk actions: status, health, cost and credentials of all agents, and restarting or stopping them together.
 *
 * Owns no table. Promises that over all processes one restart or stop of the fleet runs at a time, and that an emergency
 * stop ends it and continues after failures. `agents/lifecycle` starts agents, and `monitoring` judges them.
 */
export { bulkActionRoutes } from './routes.ts'
export { type BulkActions, type BulkActionsDeps, createBulkActions } from './service.ts'
