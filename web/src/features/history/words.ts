import type { RecordReason, RestoreReason, RunRecordReason } from '@roost/contracts/agents/history'
import type { RunChanges, WorkspaceChange, WorkspaceChanges } from '@roost/contracts/agents/workspace-history'
import type { Restore, RestorePreview } from '@roost/contracts/agents/workspace-restore'
import type { Tone } from '../../ui/badge.tsx'

export const changeWords: Record<WorkspaceChange['change'], { word: string; tone: Tone }> = {
  added: { word: 'Added', tone: 'success' },
  changed: { word: 'Changed', tone: 'info' },
  attributes: { word: 'Permissions', tone: 'neutral' },
  deleted: { word: 'Deleted', tone: 'danger' },
  renamed: { word: 'Renamed', tone: 'accent' },
}

export const recordReasonWords: Record<RecordReason, string> = {
  before_run: 'Before a run',
  after_run: 'After a run',
  before_restore: 'Before a restore',
  after_restore: 'After a restore',
  demand: 'On demand',
  fork: 'Fork',
  attempt: 'Attempt',
}

const reasonSentences: Record<RunRecordReason, string> = {
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

/** Why a run has no list of changes; null if it has one. */
export function withoutChanges({ status, reason }: Pick<RunChanges, 'status' | 'reason'>): string | null {
  const because = reason === null ? '' : ` ${reasonSentences[reason]}`
  switch (status) {
    case 'recorded':
      return null
    case 'recording':
      return 'The changes appear when the run has been recorded.'
    case 'skipped':
    case 'not_recorded':
      return `The workspace was not recorded for this run.${because}`
    case 'failed':
      return `The workspace was not recorded completely.${because}`
    case 'removed':
      return 'Retention removed the records of this run.'
  }
}

export const conflictSentences: Record<RestorePreview['conflicts'][number]['reason'], string> = {
  left_out: 'is not part of records',
  occupied: 'something new is in its place',
  denied: 'belongs to another user',
  elsewhere: 'is on another file system',
  changed_meanwhile: 'changed here and in the attempt',
}

const restoreReasonSentences: Record<RestoreReason, string> = {
  runs_working: 'Runs kept working.',
  cancelled: 'The restore was cancelled.',
  stopping_runs: 'Runs are being stopped.',
  agent_unresponsive: 'The agent did not answer.',
  agent_program_outdated: 'The program in the container is too old: restart the agent.',
  platform_stopped: 'The platform stopped meanwhile.',
  record_removed: 'Retention removed the record.',
  not_recorded: 'The workspace could not be recorded before.',
  later_runs: 'Other runs have worked since.',
  changed_meanwhile: 'Files changed here and in the attempt.',
  workspace_replaced: 'The agent got another workspace.',
  workspace_fault: 'The workspace reported an error.',
  platform_fault: 'The platform could not complete it.',
}

/** What a restore does, or how it ended. */
export function restoreSentence({
  state,
  reason,
  message,
}: Pick<Restore, 'state' | 'reason' | 'message'>): string {
  switch (state) {
    case 'waiting':
      if (reason === null) return 'The restore is about to begin.'
      if (reason === 'runs_working') return 'Waiting for the running turns to end.'
      if (reason === 'stopping_runs') return restoreReasonSentences[reason]
      return `${message ?? restoreReasonSentences[reason]} The platform tries again.`
    case 'working':
      return 'Recording and comparing the workspace.'
    case 'applying':
      return reason === null
        ? 'Restoring the files.'
        : `Some files are not restored yet. The agent tries again. ${message ?? restoreReasonSentences[reason]}`
    case 'restored':
      return `The workspace was restored.${message === null ? '' : ` ${message}`}`
    case 'unchanged':
      return 'Nothing differed from the record.'
    case 'failed':
      return `The workspace is as it was. ${message ?? (reason === null ? '' : restoreReasonSentences[reason])}`
  }
}

/** `2 added, 1 deleted`; empty without a change. */
export function countsText(counts: WorkspaceChanges['counts']): string {
  const named = [
    [counts.added, 'added'],
    [counts.changed, 'changed'],
    [counts.renamed, 'renamed'],
    [counts.deleted, 'deleted'],
    [counts.attributes, 'with new permissions'],
  ] as const
  return named.flatMap(([count, word]) => (count > 0 ? [`${count} ${word}`] : [])).join(', ')
}
