/**
 * Dispatch: accepts runs, hands them to agents, and stores what agents report.
 *
 * Runs are claimed under a lease and a growing claim token. A result counts once. Runs that no agent works on are
 * queued again or ended. Owns the table `execution_attachments`; `executions` owns the rows of runs. Conversations,
 * schedules and loops request runs here and follow their ends through `RunHooks`. The queue of an agent is its waiting
 * rows in `executions`, shown in the order in which they are claimed. Clearing it leaves running runs alone.
 */

export type { RunContext, RunContexts } from '../../agents/run-context/index.ts'
export type { Accept, Accepted } from './accept.ts'
export type { Batch, Entry, LockedQueues } from './batch.ts'
export { callerDepth } from './chain-depth.ts'
export { createQueue, type Queue } from './queue.ts'
export type { NotRun, Records } from './record.ts'
export {
  type Attachment,
  holderOf,
  isViaMcp,
  type Links,
  modelOf,
  type RunRequest,
  readSource,
  type Source,
  sourceOf,
  triggerOf,
} from './request.ts'
export { dispatchRoutes, queueRoutes } from './routes.ts'
export { rowOf } from './row.ts'
export { createDispatch, type Dispatch, type DispatchDeps } from './service.ts'
