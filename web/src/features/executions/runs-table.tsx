import type { ExecutionSummary } from '@roost/contracts/runs/executions'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type ReactNode, Suspense, useCallback, useState } from 'react'
import { useApi } from '../../shell/app-context.ts'
import { DataTable } from '../../ui/data-table.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { lazyPart } from '../../ui/lazy-part.tsx'
import { Pager } from '../../ui/pager.tsx'
import { useRowSelection } from '../../ui/use-row-selection.ts'
import { firstLine } from './first-line.ts'
import { listParam } from './list-filter.ts'
import { pageSize, type RunFilter, runsQuery } from './queries.ts'
import type { RunAct } from './run-acts.ts'
import { fleetRunColumns, runColumns } from './run-columns.tsx'
import { RunMenu } from './run-menu.tsx'
import { addressOf, pageOf } from './run-page.ts'
import { RunSelection } from './run-selection.tsx'

const RunBatch = lazyPart(async () => (await import('./run-batch.tsx')).RunBatch)

export type RunsTableProps = {
  filter: RunFilter
  /** Shows the agent of each run. */
  showsAgent?: boolean
  page: number
  onPageChange: (page: number) => void
  /** Shown when no run matches the filter, or none exists. */
  empty: ReactNode
}

type Batch = { act: RunAct; runs: readonly ExecutionSummary[] }

/** Runs, newest first, in pages. A row opens the run; selected rows are acted on together. */
export function RunsTable({ filter, showsAgent = false, page, onPageChange, empty }: RunsTableProps) {
  const navigate = useNavigate()
  const runs = useQuery(runsQuery(useApi(), filter, page))
  const rows = runs.data?.rows ?? noRows
  const { chosen, ...selection } = useRowSelection(rows, idOf, JSON.stringify([filter, page]))
  const list = listOf(filter)
  const [batch, setBatch] = useState<Batch | null>(null)
  const act = useCallback((act: RunAct, runs: readonly ExecutionSummary[]) => setBatch({ act, runs }), [])
  const rowMenu = useCallback(
    (run: ExecutionSummary, isActive: boolean) => <RunMenu run={run} isActive={isActive} onAct={act} />,
    [act],
  )
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
    <>
      <RunSelection runs={chosen} onAct={act} onClear={() => selection.clear()} />
      <DataTable
        label="Runs"
        columns={showsAgent ? fleetRunColumns : runColumns}
        rows={rows}
        rowKey={idOf}
        rowLabel={(run) => firstLine(run.message)}
        rowHref={(run) => addressOf(run, list)}
        onOpenRow={(run) => void navigate(pageOf(run, list))}
        sort={null}
        selected={selection.selected}
        onSelectedChange={selection.setSelected}
        rowMenu={rowMenu}
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
      {batch && (
        <Suspense fallback={null}>
          <RunBatch
            {...batch}
            onClose={(done) => {
              setBatch(null)
              selection.clear(done)
            }}
          />
        </Suspense>
      )}
    </>
  )
}

/** The filter for the page of a run, which without one goes through all runs of its agent. */
function listOf(filter: RunFilter): string | undefined {
  const { agent, hours, ...rest } = filter
  const isAgentOnly = agent !== undefined && hours === 0 && Object.keys(rest).length === 0
  return isAgentOnly ? undefined : listParam(filter)
}

const idOf = ({ id }: ExecutionSummary) => id

const noRows: readonly ExecutionSummary[] = []
