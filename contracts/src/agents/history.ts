/**
 * Why a workspace was recorded. `fork`: the first record of an agent that was made from another one's record. `attempt`:
 * the workspace of an attempt after its run.
 */
export const recordReasons = [
  'before_run',
  'after_run',
  'before_restore',
  'after_restore',
  'demand',
  'fork',
  'attempt',
] as const
export type RecordReason = (typeof recordReasons)[number]

/**
 * `recording`: its records are not complete yet. `skipped`: it could not write, or the history is off. `failed`: a record
 * is missing.
 */
export const runRecordOutcomes = ['recording', 'recorded', 'skipped', 'failed'] as const
export type RunRecordOutcome = (typeof runRecordOutcomes)[number]

/** Why a run has no complete records. */
export const runRecordReasons = [
  'history_off',
  'run_may_not_write',
  'agent_outdated',
  'agent_unreachable',
  'agent_timeout',
  'agent_fault',
  'invalid_answer',
  'quota_full',
  'store_fault',
  'platform_stopped',
] as const
export type RunRecordReason = (typeof runRecordReasons)[number]

/**
 * `working`: it records, compares and sends, and the workspace is as it was. `applying`: the agent completes it.
 * `unchanged` and `failed`: the workspace is as it was.
 */
export const restoreProgress = ['waiting', 'working', 'applying', 'restored', 'unchanged', 'failed'] as const
export type RestoreProgress = (typeof restoreProgress)[number]

/** Why a restore failed, or what it waits for. */
export const restoreReasons = [
  'runs_working',
  'cancelled',
  'stopping_runs',
  'agent_unresponsive',
  'agent_program_outdated',
  'platform_stopped',
  'record_removed',
  'not_recorded',
  'later_runs',
  'changed_meanwhile',
  'workspace_replaced',
  'workspace_fault',
  'platform_fault',
] as const
export type RestoreReason = (typeof restoreReasons)[number]
