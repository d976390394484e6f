/**
 * Dispatch: how work reaches an agent, and how nothing is lost on the way.
 *
 * Takes runs in (`acceptIn`), hands them out under a lease and a growing claim token, stores what the agent
 * sends of them, takes their result once, and takes back what nobody works on. Owns the table
 * `execution_attachments`; the rows are those of `executions`. Refuses to know what a conversation, a
 * schedule or a loop is: they ask for runs, and take part in the end of theirs through `RunHooks`.
 */

export type { RunContext, RunContexts } from '../../agents/run-context/index.ts'
export type { Accept, Accepted } from './accept.ts'
export type { Batch, Entry, LockedQueues } from './batch.ts'
export type { NotRun, Records } from './record.ts'
export {
  type Attachment,
  holderOf,
  isViaMcp,
  type Links,
  modelOf,
  type RunRequest,
  type Source,
  sourceOf,
  triggerOf,
} from './request.ts'
export { dispatchRoutes } from './routes.ts'
export { createDispatch, type Dispatch, type DispatchDeps } from './service.ts'
