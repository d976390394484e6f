import type { ExecutionSummary } from '@roost/contracts/runs/executions'
import type { Schedule } from '@roost/contracts/triggers/schedules'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useApi } from '../../shell/app-context.ts'
import { DataTable } from '../../ui/data-table.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { Pager } from '../../ui/pager.tsx'
import { firstLine } from '../executions/first-line.ts'
import { runColumns } from '../executions/run-columns.tsx'
import { runsPageSize, scheduleRunsQuery } from './queries.ts'

const route = getRouteApi('/signed-in/agents/$name')

/** All runs of the schedule: timed, manual, by webhook, and retries. */
export function ScheduleRuns({ name, schedule }: { name: string; schedule: Schedule }) {
  const { page = 1 } = route.useSearch()
  const turn = route.useNavigate()
  const navigate = useNavigate()
  const runs = useQuery(scheduleRunsQuery(useApi(), name, schedule.id, page))
  if (runs.isError && !runs.data) {
    return (
      <ErrorState title="Could not load the runs" error={runs.error} onRetry={() => void runs.refetch()} />
    )
  }
  return (
    <DataTable
      label="Runs of the schedule"
      columns={runColumns}
      rows={runs.data?.rows ?? none}
      rowKey={(run) => run.id}
      rowLabel={(run) => firstLine(run.message)}
      rowHref={({ id }) => `/agents/${encodeURIComponent(name)}/executions/${id}`}
      onOpenRow={({ id }) => void navigate({ to: '/agents/$name/executions/$id', params: { name, id } })}
      sort={null}
      columnChoice="schedule-runs"
      isLoading={runs.isPending}
      className={runs.isPlaceholderData ? 'opacity-60' : undefined}
      empty={
        <EmptyState title="No runs yet" description="Due times without a run are listed under “Due times”." />
      }
      footer={
        runs.data?.total === 0 ? undefined : (
          <Pager
            noun="run"
            page={page}
            pageSize={runsPageSize}
            total={runs.data?.total ?? null}
            onPageChange={(next) =>
              void turn({ search: (now) => ({ ...now, page: next }), replace: true, resetScroll: false })
            }
          />
        )
      }
    />
  )
}

const none: readonly ExecutionSummary[] = []
