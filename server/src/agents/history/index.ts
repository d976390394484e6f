/**
 * History: records of an agent's workspace before and after its runs. Owns the tables `workspace_records`,
 * `run_workspace_records` and `workspace_history_settings`. The contents are in the port `workspace-history`.
 */
export { createHistorySettings, type HistorySettingsService } from './history-settings.ts'
export { storeName } from './paths.ts'
export { createHistoryReader, type HistoryReader } from './reader.ts'
export { historyRoutes } from './routes.ts'
export { historyStore, maxNamedRuns, type RecordsPage } from './store.ts'
export type { HistorySettingsRow, RecordRow, RunRecordsRow } from './tables.ts'
