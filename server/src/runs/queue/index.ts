/**
 * The queue of one agent, to be seen and to be emptied.
 *
 * Promises that what is shown is the order in which runs are handed out, and that clearing it ends what waits
 * and nothing that runs. Owns no table: the queue is the waiting rows of `executions`.
 */
export { queueRoutes } from './routes.ts'
export { createQueue, type Queue } from './service.ts'
