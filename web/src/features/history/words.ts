import { type RecordReason, restoreReasonTexts, runRecordReasonTexts } from '@roost/contracts/agents/history'
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

/** Why a run has no list of changes; null if it has one. */
export function withoutChanges({ status, reason }: Pick<RunChanges, 'status' | 'reason'>): string | null {
  const because = reason === null ? '' : ` ${runRecordReasonTexts[reason]}`
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
  left_out: 'is not part of the record',
  occupied: 'is occupied by another entry',
  denied: 'belongs to another user',
  elsewhere: 'is on another file system',
  changed_meanwhile: 'changed here and in the attempt',
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
      if (reason === 'runs_working') return 'Waiting for the runs to end.'
      if (reason === 'stopping_runs') return 'Runs are being stopped.'
      return `${message ?? restoreReasonTexts[reason]} The platform tries again.`
    case 'working':
      return 'Recording and comparing the workspace.'
    case 'applying':
      return reason === null
        ? 'Restoring the files.'
        : `Some files are not restored yet. The agent tries again. ${message ?? restoreReasonTexts[reason]}`
    case 'restored':
      return `The workspace was restored.${message === null ? '' : ` ${message}`}`
    case 'unchanged':
      return 'Nothing differed from the record.'
    case 'failed':
      return `The workspace is as it was. ${message ?? (reason === null ? '' : restoreReasonTexts[reason])}`
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
