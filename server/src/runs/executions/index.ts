/**
 * Executions: the record of every run of every kind, and everything that is read from it.
 *
 * Owns the tables `executions` and `agent_queues`. Promises that the row is the truth about a run, that its
 * end is decided once and told in the same transaction, and that a reader who follows a run misses no line
 * and sees none twice. Refuses to know how runs come about and how they reach an agent: that is `dispatch`.
 */
export { activitySignal, createdEvent, finishedEvent, startedEvent } from './events.ts'
export { refuseForeignRun } from './foreign-run.ts'
export { createRunHooks, type RunHooks, type TurnContext } from './hooks.ts'
export { logText, storedLines } from './log.ts'
export { overdueStore } from './overdue-store.ts'
export { type Hold, type QueueCounts, type QueueStore, queueStore, type Waiting } from './queue-store.ts'
export { executionRoutes, readerOf } from './routes.ts'
export {
  dollars,
  isAdmin,
  isFinal,
  isParked,
  isPrivate,
  type MessageReader,
  mayRead,
  maySee,
  messagePreview,
  messageReader,
  metadataOf,
  offered,
  privateTriggers,
  seesOwnRunsOnly,
  statusFilter,
  summaryOf,
  triggerFilter,
  unknownFilter,
} from './rules.ts'
export {
  createExecutions,
  type Executions,
  type ExecutionsDeps,
  type Reader,
} from './service.ts'
export type { Ending, Settle } from './settle.ts'
export { spendStore } from './spend-store.ts'
export {
  type EndPatch,
  type ExecutionRow,
  type ExecutionStore,
  executionStore,
  type Usage,
} from './store.ts'
export { executionEvents, resumeAfter, streamHeaders } from './stream.ts'
export { nameOf } from './terminate.ts'
export type { Watch, Watched } from './watch.ts'
