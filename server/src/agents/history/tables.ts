import type {
  RecordReason,
  RestoreProgress,
  RestoreReason,
  RunRecordOutcome,
  RunRecordReason,
} from '@roost/contracts/agents/history'
import type { RestoreConflict } from '@roost/contracts/link/history-restore'

/** Booleans are 0 or 1, times ISO 8601 UTC. */
export type RecordRow = {
  id: string
  agent_id: string
  /** Counts the records of the agent. */
  number: number
  reason: RecordReason
  created_at: string
  /** The record before it; it may have been removed since. Null for the first one. */
  base_id: string | null
  /** The record that a restore or a fork was filled from. */
  source_id: string | null
  is_changed: number
  /** Files and links that differ from the base. 0 without a base. */
  added: number
  changed: number
  deleted: number
  renamed: number
  received_bytes: number
  /** JSON `HistoryRules`; null for the defaults. */
  rules: string | null
  /** JSON `LeftOutPath[]`: the first of them. */
  left_out: string
  left_out_count: number
  pinned: number
  /** Account that pinned it. */
  pinned_by: string | null
  /** The set of attempts that needs it, until the set has ended. */
  attempt_set_id: string | null
}

/** The records of a run. A record that retention removed is null. */
export type RunRecordsRow = {
  execution_id: string
  agent_id: string
  outcome: RunRecordOutcome
  /** Why there is no complete record; null otherwise. */
  reason: RunRecordReason | null
  before_id: string | null
  after_id: string | null
  /** JSON `string[]`: some of the runs that share its records, and perhaps itself. Set with the record after it. */
  overlapped: string
  /** How many other runs share its records. */
  overlapped_count: number
  started_at: string
  ended_at: string | null
  /** Whether it had the owner's rights. */
  by_owner: number
}

export type HistorySettingsRow = {
  agent_id: string
  is_on: number
  undo_failed: number
  /** Whether it continues from its latest record if its node is lost and its volumes cannot move. */
  start_from_record: number
  /** JSON `HistoryRules`; null for the defaults. */
  rules: string | null
  /** Null for the installation's default; 0 means unlimited. */
  quota_bytes: number | null
  updated_at: string
}

export type RestoreRow = {
  id: string
  agent_id: string
  /** It may have been removed since. */
  record_id: string
  /** JSON `string[]`: bytes as characters; the empty path means everything. */
  paths: string
  /** Account that asked for it. */
  asked_by: string | null
  /** The failed run that it undoes automatically, and the run that validated it. */
  run_id: string | null
  validation_id: string | null
  /** Only what differs between this record and the restored one is restored. Null: the paths are. */
  merge_base_id: string | null
  /** Whether a merge overwrites what changed in the workspace as well. */
  overwrite: number
  /** Whether it fills a new workspace: until it has succeeded, the agent gets no run. */
  fills_new: number
  state: RestoreProgress
  reason: RestoreReason | null
  message: string | null
  added: number
  changed: number
  attributes: number
  deleted: number
  /** JSON `StoredConflict[]`: the first of them. */
  conflicts: string
  conflict_count: number
  /** The records before and after it. A record that retention removed is null. */
  before_id: string | null
  after_id: string | null
  /** The process that works on it. */
  runner: string | null
  created_at: string
  updated_at: string
  /** Null while it is open; an agent has one open restore. */
  ended_at: string | null
}

/** `changed_meanwhile`: the workspace and a merged record both changed it. */
export type StoredConflict = { path: string; reason: RestoreConflict['reason'] | 'changed_meanwhile' }

export type HistoryTables = {
  workspace_records: RecordRow
  run_workspace_records: RunRecordsRow
  workspace_history_settings: HistorySettingsRow
  workspace_restores: RestoreRow
}
