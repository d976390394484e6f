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

/** For people. */
export const runRecordReasonTexts: Record<RunRecordReason, string> = {
  history_off: 'The history of this agent is off.',
  run_may_not_write: 'The run could not write files.',
  agent_outdated: 'The program in the container is too old: restart the agent.',
  agent_unreachable: 'The agent was offline.',
  agent_timeout: 'The agent did not answer in time.',
  agent_fault: 'The agent could not read its workspace.',
  invalid_answer: 'The agent sent an invalid answer.',
  quota_full: 'The quota of the history is used up.',
  store_fault: 'The history could not be stored.',
  platform_stopped: 'The platform stopped meanwhile.',
}

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

/** Why a restore failed, for people. */
export const restoreReasonTexts: Record<RestoreReason, string> = {
  runs_working: 'Other runs kept working for an hour.',
  cancelled: 'The restore was cancelled.',
  stopping_runs: 'Other runs could not be stopped.',
  agent_unresponsive: 'The agent did not answer.',
  agent_program_outdated: 'The program in the container is too old: restart the agent.',
  platform_stopped: 'The platform stopped meanwhile.',
  record_removed: 'Retention removed the record.',
  not_recorded: 'The workspace could not be recorded before the restore.',
  later_runs: 'Other runs have worked since.',
  changed_meanwhile: 'The same files changed in the workspace and in the attempt.',
  workspace_replaced: 'The agent got another workspace.',
  workspace_fault: 'The workspace reported an error.',
  platform_fault: 'The platform could not complete the restore.',
}
