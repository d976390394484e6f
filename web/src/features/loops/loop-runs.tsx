import type { LoopRun } from '@roost/contracts/runs/loops'
import { useNavigate } from '@tanstack/react-router'
import { useMemo } from 'react'
import { StatusDot } from '../../ui/badge.tsx'
import { Cost } from '../../ui/cost.tsx'
import { type DataColumn, DataTable } from '../../ui/data-table.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { Duration, RunningDuration } from '../../ui/time.tsx'
import { runStatusWords } from './words.ts'

/** The runs of a loop, newest first. */
export function LoopRuns({ name, runs }: { name: string; runs: readonly LoopRun[] }) {
  const navigate = useNavigate()
  const newestFirst = useMemo(() => runs.toReversed(), [runs])
  return (
    <DataTable
      label="Runs of the loop"
      columns={columns}
      rows={newestFirst}
      rowKey={(run) => run.execution_id}
      rowLabel={(run) => `Run ${run.run_number}`}
      rowHref={({ execution_id }) => `/agents/${encodeURIComponent(name)}/executions/${execution_id}`}
      onOpenRow={({ execution_id: id }) =>
        void navigate({ to: '/agents/$name/executions/$id', params: { name, id } })
      }
      sort={null}
      empty={<EmptyState title="No runs started yet" />}
    />
  )
}

const columns: readonly DataColumn<LoopRun>[] = [
  { id: 'number', header: 'Run', width: 72, cell: (run) => `Run ${run.run_number}` },
  {
    id: 'status',
    header: 'Status',
    width: 110,
    cell: (run) => <StatusDot {...runStatusWords[run.status]} pulse={run.status === 'running'} />,
  },
  {
    id: 'reply',
    header: 'Reply',
    grow: true,
    width: 130,
    cell: (run) =>
      run.error === null ? (
        <span title={run.response_preview ?? undefined}>{run.response_preview ?? ''}</span>
      ) : (
        <span className="text-danger" title={run.error}>
          {run.error}
        </span>
      ),
  },
  {
    id: 'duration',
    header: 'Duration',
    width: 90,
    align: 'end',
    priority: 2,
    cell: (run) =>
      run.status === 'running' ? (
        <RunningDuration since={run.started_at} />
      ) : (
        <Duration ms={run.duration_ms} />
      ),
  },
  {
    id: 'cost',
    header: 'Cost',
    width: 84,
    align: 'end',
    priority: 2,
    cell: (run) => <Cost usd={run.cost} isEstimated={run.cost_estimated} />,
  },
]
