/**
 * History: records of an agent's workspace before and after its runs. Owns the tables `workspace_records`,
 * `run_workspace_records`, `workspace_restores` and `workspace_history_settings`. The contents are in the port `workspace-history`.
 *
 * A run never fails because of its records: what is missing is named in its row.
 */

export type { AdoptRequest, AttemptRecords } from './adopt.ts'
export type { RunRecording, StartedRun } from './around-runs.ts'
export { reasonOf, WorkspaceRestoring } from './faults.ts'
export type { Filled, FillRequest } from './fill.ts'
export { createHistorySettings, type HistorySettingsService } from './history-settings.ts'
export type { Omissions } from './omissions.ts'
export { createHistoryReader, type HistoryReader } from './reader.ts'
export type { MadeRecord, RecordRequest } from './record.ts'
export {
  type MergeRequest,
  type RestoreRequest,
  type Restores,
  requestedRecord,
} from './restore-request.ts'
export { restoreRoutes } from './restore-routes.ts'
export { restoreStore } from './restore-store.ts'
export type { FailedRun, RestoreService, RestoresDeps } from './restores.ts'
export { historyRoutes } from './routes.ts'
export { keptPathsOf, leftOutOf, storeName } from './rules.ts'
export {
  type AgentHistory,
  type AgentHistoryDeps,
  createAgentHistory,
} from './service.ts'
export { historyStore, maxNamedRuns, type RecordsPage } from './store.ts'
export type { HistorySettingsRow, RecordRow, RunRecordsRow } from './tables.ts'
