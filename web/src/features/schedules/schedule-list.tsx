import type { AgentDetails } from '@roost/contracts/agents/agent'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { CalendarClock, Plus } from 'lucide-react'
import { useMemo } from 'react'
import { useApi } from '../../shell/app-context.ts'
import { Banner } from '../../ui/banner.tsx'
import { Button } from '../../ui/button.tsx'
import { CardHeader } from '../../ui/card.tsx'
import { DataTable } from '../../ui/data-table.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { meQuery } from '../users/queries.ts'
import { type useScheduleRemoval, useScheduleSwitch, useTriggerSchedule } from './actions.ts'
import { scheduleSummaryQuery, schedulesQuery } from './queries.ts'
import { type ScheduleRow, scheduleColumns } from './schedule-columns.tsx'
import type { Editing } from './schedule-dialog.tsx'

type ScheduleListProps = {
  agent: AgentDetails
  onOpen: (id: string) => void
  onEdit: (editing: Editing) => void
  removal: ReturnType<typeof useScheduleRemoval>
}

export function ScheduleList({ agent, onOpen, onEdit, removal }: ScheduleListProps) {
  const api = useApi()
  const navigate = useNavigate()
  const { name } = agent
  const isOwner = agent.is_owner || agent.can_delete
  const schedules = useQuery(schedulesQuery(api, name))
  const summary = useQuery(scheduleSummaryQuery(api, name))
  const { data: me } = useQuery(meQuery(api))
  const toggle = useScheduleSwitch(name).mutate
  const trigger = useTriggerSchedule(name, (id) => {
    void navigate({ to: '/agents/$name/executions/$id', params: { name, id } })
  }).mutate
  const { remove, pending } = removal

  const rows = useMemo(() => {
    const figures = new Map(summary.data?.schedules.map((row) => [row.schedule_id, row]))
    return (schedules.data ?? [])
      .filter(({ id }) => !pending.has(id))
      .map((row): ScheduleRow => ({ ...row, week: figures.get(row.id) ?? null }))
  }, [schedules.data, summary.data, pending])
  // biome-ignore lint/correctness/useExhaustiveDependencies: the actions never change, so the columns are memoized
  const columns = useMemo(
    () => scheduleColumns({ isOwner, me: me?.username ?? null, toggle, trigger, remove, edit: onEdit }),
    [isOwner, me?.username],
  )
  const create = () => onEdit({ stored: null, from: null })
  return (
    <section aria-label="Schedules" className="flex min-w-0 flex-col">
      <CardHeader
        title="Schedules"
        description="Recurring tasks of the agent, triggered by time, manually or by webhook."
        actions={
          <Button variant="primary" icon={<Plus aria-hidden />} onClick={create}>
            New schedule
          </Button>
        }
      />
      {!agent.autonomy_enabled && rows.some(({ enabled }) => enabled) && (
        <Banner tone="warning" title="Autonomy is off" className="mb-3">
          No schedule fires by time until you turn autonomy on in the header. Manual triggers and webhooks
          still work.
        </Banner>
      )}
      {schedules.isError && !schedules.data ? (
        <ErrorState
          title="Could not load the schedules"
          error={schedules.error}
          onRetry={() => void schedules.refetch()}
          className="rounded-lg border border-line bg-surface"
        />
      ) : (
        <DataTable
          label="Schedules"
          columns={columns}
          rows={rows}
          rowKey={(row) => row.id}
          rowLabel={(row) => row.name}
          rowHeight={52}
          rowHref={(row) => `/agents/${encodeURIComponent(name)}?tab=schedules&schedule=${row.id}`}
          onOpenRow={({ id }) => onOpen(id)}
          isLoading={schedules.isPending}
          empty={
            <EmptyState
              icon={<CalendarClock aria-hidden />}
              title="No schedules yet"
              description="A schedule sends the agent a task at fixed times. It can also have a webhook."
              action={<Button onClick={create}>Create schedule</Button>}
            />
          }
        />
      )}
    </section>
  )
}
