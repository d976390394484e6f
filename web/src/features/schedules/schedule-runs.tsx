import type { ExecutionSummary } from '@roost/contracts/runs/executions'
import type { Schedule } from '@roost/contracts/triggers/schedules'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useApi } from '../../shell/app-context.ts'
import { Checkbox } from '../../ui/checkbox.tsx'
import { DataTable } from '../../ui/data-table.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { Pager } from '../../ui/pager.tsx'
import { firstLine } from '../executions/first-line.ts'
import { runColumns } from '../executions/run-columns.tsx'
import { runsPageSize, scheduleRunsQuery } from './queries.ts'

const route = getRouteApi('/signed-in/agents/$name')

/** All runs of the schedule: timed, manual, by webhook, and retries. Their validations on request. */
export function ScheduleRuns({ name, schedule }: { name: string; schedule: Schedule }) {
  const { page = 1 } = route.useSearch()
  const turn = route.useNavigate()
  const navigate = useNavigate()
  const [withValidations, setWithValidations] = useState(false)
  const runs = useQuery(scheduleRunsQuery(useApi(), { name, id: schedule.id, page, withValidations }))
  const turnTo = (next: number) =>
    void turn({ search: (now) => ({ ...now, page: next }), replace: true, resetScroll: false })
  if (runs.isError && !runs.data) {
    return (
      <ErrorState title="Could not load the runs" error={runs.error} onRetry={() => void runs.refetch()} />
    )
  }
  const table = (
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
            onPageChange={turnTo}
          />
        )
      }
    />
  )
  if (!schedule.validation_enabled && !withValidations) return table
  return (
    <div className="space-y-3">
      <Checkbox
        checked={withValidations}
        onCheckedChange={(isOn) => {
          setWithValidations(isOn)
          turnTo(1)
        }}
      >
        Show validation runs
      </Checkbox>
      {table}
    </div>
  )
}

const none: readonly ExecutionSummary[] = []
