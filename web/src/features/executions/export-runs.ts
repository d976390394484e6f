import { csvRow } from '@roost/contracts/kit/csv'
import type { ExecutionSummary } from '@roost/contracts/runs/executions'
import { saveBlob } from '../../lib/save-blob.ts'

export type RunExport = 'csv' | 'ndjson'

/** Saves runs as a download, as the list has them: without responses and transcripts. */
export function exportRuns(runs: readonly ExecutionSummary[], format: RunExport, now = new Date()): void {
  const { text, type } = runFile(runs, format)
  saveBlob(new Blob([text], { type }), `roost-runs-${now.toISOString().slice(0, 10)}.${format}`)
}

/** The text of an export: NDJSON has each run as the API returns it, CSV the columns below. */
export function runFile(
  runs: readonly ExecutionSummary[],
  format: RunExport,
): { text: string; type: string } {
  if (format === 'ndjson') {
    const lines = runs.map((run) => `${JSON.stringify(run)}\n`)
    return { text: lines.join(''), type: 'application/x-ndjson' }
  }
  const rows = runs.map((run) => csvRow(columns.map((column) => run[column])))
  return { text: csvRow(columns) + rows.join(''), type: 'text/csv;charset=utf-8' }
}

const columns: readonly (keyof ExecutionSummary)[] = [
  'id',
  'agent_name',
  'status',
  'message',
  'error_summary',
  'error_code',
  'triggered_by',
  'created_at',
  'started_at',
  'completed_at',
  'duration_ms',
  'cost',
  'cost_estimated',
  'model_used',
  'input_tokens',
  'output_tokens',
  'attempt_number',
  'retry_of_execution_id',
  'parent_execution_id',
  'schedule_id',
  'fan_out_id',
  'loop_id',
  'session_id',
  'source_user_email',
  'source_agent_name',
]
