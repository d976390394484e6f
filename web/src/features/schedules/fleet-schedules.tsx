import type { FleetSchedules as Fleet } from '@roost/contracts/triggers/schedule-admin'
import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { CalendarClock } from 'lucide-react'
import { useMemo } from 'react'
import { useApi } from '../../shell/app-context.ts'
import { PageHelp } from '../../shell/page-help.tsx'
import { Banner } from '../../ui/banner.tsx'
import { buttonClass } from '../../ui/button.tsx'
import { DataTable } from '../../ui/data-table.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { SearchInput } from '../../ui/input.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { StatCard } from '../../ui/stat-card.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { meQuery } from '../users/queries.ts'
import { DeletedSchedules } from './deleted-schedules.tsx'
import { useFleetSwitch } from './fleet-actions.ts'
import { type FleetRow, fleetScheduleColumns } from './fleet-columns.tsx'
import { fleetSchedulesQuery, schedulerStatusQuery } from './fleet-queries.ts'
import { NewSchedule } from './new-schedule.tsx'
import { PauseAll } from './pause-all.tsx'

const route = getRouteApi('/signed-in/schedules')

/** The schedules of all agents, for admins. */
export function FleetSchedules() {
  const { data: me } = useSuspenseQuery(meQuery(useApi()))
  const isAdmin = me.role === 'admin'
  return (
    <>
      <PageHeader
        title="Schedules"
        aside={<PageHelp guide="operate/schedules" topic="Schedules" />}
        description="The schedules of all agents."
        actions={
          <>
            {isAdmin && <PauseAll />}
            <NewSchedule />
          </>
        }
      />
      {isAdmin ? (
        <AllSchedules />
      ) : (
        <EmptyState
          icon={<CalendarClock aria-hidden />}
          title="Only admins can view all schedules"
          description="Open an agent to view its schedules."
          action={
            <Link to="/agents" className={buttonClass()}>
              Go to agents
            </Link>
          }
        />
      )}
    </>
  )
}

function AllSchedules() {
  const navigate = useNavigate()
  const change = route.useNavigate()
  const { q = '' } = route.useSearch()
  const fleet = useQuery(fleetSchedulesQuery(useApi()))
  const { mutate: toggle } = useFleetSwitch()
  const columns = useMemo(() => fleetScheduleColumns(toggle), [toggle])
  const rows = useMemo(() => {
    const word = q.trim().toLowerCase()
    const text = (row: FleetRow) => `${row.name} ${row.agent_name} ${row.message}`.toLowerCase()
    return (fleet.data?.schedules ?? []).filter((row) => text(row).includes(word))
  }, [fleet.data, q])
  return (
    <div className="flex min-w-0 flex-col gap-4">
      <Scheduler />
      <Figures summary={fleet.data?.summary} />
      <SearchInput
        label="Search schedules"
        value={q}
        onValueChange={(text) =>
          void change({
            search: (now) => ({ ...now, q: text || undefined }),
            replace: true,
            resetScroll: false,
          })
        }
        className="w-full sm:w-72"
      />
      {fleet.isError && !fleet.data ? (
        <ErrorState
          title="Could not load the schedules"
          error={fleet.error}
          onRetry={() => void fleet.refetch()}
          className="rounded-lg border border-line bg-surface"
        />
      ) : (
        <DataTable
          label="Schedules of all agents"
          columns={columns}
          rows={rows}
          rowKey={(row) => row.id}
          rowLabel={(row) => row.name}
          rowHeight={52}
          defaultSort={{ id: 'next', desc: false }}
          rowHref={({ agent_name, id }) =>
            `/agents/${encodeURIComponent(agent_name)}?tab=schedules&schedule=${id}`
          }
          onOpenRow={({ agent_name: name, id }) =>
            void navigate({
              to: '/agents/$name',
              params: { name },
              search: { tab: 'schedules', schedule: id },
            })
          }
          isLoading={fleet.isPending}
          empty={
            <EmptyState
              icon={<CalendarClock aria-hidden />}
              title={q ? 'No matching schedules' : 'No schedules yet'}
              description={q ? undefined : 'A schedule sends an agent a task at fixed times.'}
            />
          }
        />
      )}
      <DeletedSchedules />
    </div>
  )
}

/** Warns when the scheduler process is not running. */
function Scheduler() {
  const { data } = useQuery(schedulerStatusQuery(useApi()))
  if (!data || data.running) return null
  return (
    <Banner tone="danger" title="The scheduler is not running">
      No schedule fires until the scheduler is back.
      {data.last_check_at !== null && (
        <>
          {' '}
          Last check: <RelativeTime at={data.last_check_at} />.
        </>
      )}
    </Banner>
  )
}

function Figures({ summary }: { summary: Fleet['summary'] | undefined }) {
  return (
    <div className="grid grid-cols-2 gap-3 lg:grid-cols-4">
      <StatCard label="Schedules" value={summary?.total ?? '–'} />
      <StatCard label="Enabled" value={summary?.enabled ?? '–'} />
      <StatCard label="Disabled" value={summary?.disabled ?? '–'} />
      <StatCard label="Agents with schedules" value={summary?.agents_with_schedules ?? '–'} />
    </div>
  )
}
