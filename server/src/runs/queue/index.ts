/**
 * The queue of one agent: read and clear. Shows runs in the order in which they are claimed. Clearing ends
 * queued runs and leaves running ones alone. Owns no table: the queue is the waiting rows of `executions`.
 */
export { queueRoutes } from './routes.ts'
export { createQueue, type Queue } from './service.ts'
