/**
 * Tasks: one thing asked of an agent, stateless, answered on the connection that asked or polled for.
 *
 * Promises that a task is taken in once for each idempotency key, that a waiting caller learns how it ended
 * by its status, and that a caller who goes away loses nothing but the answer. Owns no table: a task is its
 * execution. Refuses to know what a conversation is: what a task leaves in one goes through `JoinConversation`.
 */
export type { JoinConversation, Joined, JoinRequest } from './conversation.ts'
export { answerTask, taskRoutes } from './routes.ts'
export { createTasks, type Tasks, type TasksDeps } from './service.ts'
