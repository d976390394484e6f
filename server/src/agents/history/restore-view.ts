import type { Restore } from '@roost/contracts/agents/workspace-restore'
import { shownPath } from './paths.ts'
import type { RestoreSummary } from './restore.ts'
import type { RestoreRow, StoredConflict } from './tables.ts'

export function restoreView(row: RestoreRow): Restore {
  const { id, record_id, run_id, state, reason, message, before_id, after_id, created_at, ended_at } = row
  const { added, changed, attributes, deleted, conflict_count } = row
  return {
    ...{
      id,
      record: record_id,
      run: run_id,
      state,
      reason,
      message,
      undo_record: before_id,
      after_record: after_id,
    },
    ...{ started_at: created_at, ended_at, added, changed, attributes, deleted, conflict_count },
    conflicts: (JSON.parse(row.conflicts) as StoredConflict[]).map(conflictView),
  }
}

export function summaryView({ conflicts, ...counts }: RestoreSummary) {
  return { ...counts, conflicts: conflicts.map(conflictView) }
}

function conflictView({ path, reason }: StoredConflict) {
  return { ...shownPath(path), reason }
}
