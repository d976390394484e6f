import type { ExecutionSummary } from '@roost/contracts/runs/executions'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useApi } from '../../shell/app-context.ts'
import { DataTable } from '../../ui/data-table.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { Pager } from '../../ui/pager.tsx'
import { firstLine } from './first-line.ts'
import { pageSize, type RunFilter, runsQuery } from './queries.ts'
import { fleetRunColumns, runColumns } from './run-columns.tsx'
import { pageOf } from './run-page.ts'

export type RunsTableProps = {
  filter: RunFilter
  /** Shows the agent of each run. */
  showsAgent?: boolean
  page: number
  onPageChange: (page: number) => void
  /** Shown when no run matches the filter, or none exists. */
  empty: ReactNode
}

/** Runs, newest first, in pages. A row opens the run. */
export function RunsTable({ filter, showsAgent = false, page, onPageChange, empty }: RunsTableProps) {
  const navigate = useNavigate()
  const runs = useQuery(runsQuery(useApi(), filter, page))
  if (runs.isError && !runs.data) {
    return (
      <ErrorState
        title="Could not load the runs"
        error={runs.error}
        onRetry={() => void runs.refetch()}
        className="rounded-lg border border-line bg-surface"
      />
    )
  }
  return (
    <DataTable
      label="Runs"
      columns={showsAgent ? fleetRunColumns : runColumns}
      rows={runs.data?.rows ?? noRows}
      rowKey={(run) => run.id}
      rowLabel={(run) => firstLine(run.message)}
      rowHref={addressOf}
      onOpenRow={(run) => void navigate(pageOf(run))}
      sort={null}
      columnChoice={showsAgent ? 'fleet-runs' : 'runs'}
      isLoading={runs.isPending}
      empty={empty}
      className={runs.isPlaceholderData ? 'opacity-60' : undefined}
      footer={
        runs.data?.total === 0 ? undefined : (
          <Pager
            noun="run"
            page={page}
            pageSize={pageSize}
            total={runs.data?.total ?? null}
            onPageChange={onPageChange}
          />
        )
      }
    />
  )
}

function addressOf({ agent_name, id, agent_deleted }: ExecutionSummary): string {
  if (agent_deleted) return `/executions/${encodeURIComponent(id)}`
  return `/agents/${encodeURIComponent(agent_name)}/executions/${encodeURIComponent(id)}`
}

const noRows: readonly ExecutionSummary[] = []
