/**
 * Executions: the record of every run of every kind, and all reads of it.
 *
 * Owns the tables `executions`, `agent_queues` and `model_calls`. The row is the truth about a run. Its end is decided once, with its
 * event in the same transaction. A reader who follows a run gets every line exactly once. `dispatch` creates the runs
 * and hands them to agents.
 */
export { activitySignal, createdEvent, finishedEvent, startedEvent } from './events.ts'
export { createRunHooks, type RunHooks, type TurnContext } from './hooks.ts'
export { logText, storedLines } from './log.ts'
export { type ModelCallRow, modelCallStore } from './model-call-store.ts'
export { overdueStore } from './overdue-store.ts'
export {
  type Hold,
  type LineCounts,
  type QueueCounts,
  type QueueStore,
  queueStore,
  type Waiting,
} from './queue-store.ts'
export { type EndedRun, runRetentionStore } from './retention-store.ts'
export { executionRoutes, readerOf } from './routes.ts'
export {
  dollars,
  errorFilter,
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
  refuseForeignRun,
} from './service.ts'
export type { Ending, Settle } from './settle.ts'
export { type Spent, spendStore } from './spend-store.ts'
export {
  type EndPatch,
  type ExecutionRow,
  type ExecutionStore,
  executionStore,
  type Usage,
} from './store.ts'
export { executionEvents, resumeAfter, streamHeaders } from './stream.ts'
export { cancelOnAgent, nameOf } from './terminate.ts'
export { createWait, runErrorCode, type Wait, type WaitOptions } from './wait.ts'
export type { Watch, Watched } from './watch.ts'
