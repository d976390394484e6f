/**
 * Tasks: one stateless request to an agent, answered on its connection or by polling.
 *
 * A task is accepted once per idempotency key. A waiting caller gets the outcome of its run; after a disconnect the run
 * continues. Owns no table: a task is its execution. `JoinConversation` stores its messages in a conversation.
 */
export type { JoinConversation, Joined, JoinRequest } from './conversation.ts'
export { answerTask, taskRoutes } from './routes.ts'
export { createTasks, type Tasks, type TasksDeps } from './service.ts'
