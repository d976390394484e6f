import { queryKeys, type RunQuery } from '@roost/contracts/runs/run-query'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { Activity } from 'lucide-react'
import { formatPercent, plural } from '../../lib/format.ts'
import { useApi } from '../../shell/app-context.ts'
import { PageHelp } from '../../shell/page-help.tsx'
import { Button, buttonClass } from '../../ui/button.tsx'
import { Cost } from '../../ui/cost.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { StatCard } from '../../ui/stat-card.tsx'
import { AgentFilter } from '../agents/agent-filter.tsx'
import { ErrorGroups } from './find/error-groups.tsx'
import { PeriodPicker, usualHours } from './find/period-picker.tsx'
import { SavedViews } from './find/saved-views.tsx'
import { filterOf, queryOf, querySearchKeys, searchOf } from './find/search-query.ts'
import { FleetTimeline } from './fleet-timeline.tsx'
import { GroupFilters } from './group-filters.tsx'
import { type RunFilter, type RunWindow, runStatsQuery } from './queries.ts'
import { RunFilters } from './run-filters.tsx'
import { RunsTable } from './runs-table.tsx'

const route = getRouteApi('/signed-in/runs')
type Search = ReturnType<typeof route.useSearch>

/** The runs of all accessible agents. */
export function FleetExecutions() {
  const { page = 1, ...search } = route.useSearch()
  const navigate = route.useNavigate()
  const query = queryOf(search, usualHours)
  const { hours = usualHours, from, to } = query
  const change = (next: Partial<Search>) =>
    void navigate({
      search: (now) => ({ ...now, page: undefined, ...next }),
      replace: true,
      resetScroll: false,
    })
  const apply = (next: RunQuery) => change(searchOf(next))
  const isPeriod = Boolean(from || to)
  const filter: RunFilter = filterOf({ ...query, hours })
  const { status: _status, trigger: _trigger, search: _search, ...window } = filter
  const isFiltered = Object.keys(query).some((key) => !['hours', 'from', 'to'].includes(key))
  const isOfGroup = [query.model, query.person, query.tag].some((value) => value !== undefined)
  return (
    <>
      <PageHeader
        title="Runs"
        aside={<PageHelp guide="concepts/runs" topic="Runs" />}
        description="All runs of the agents you have access to."
        actions={
          <PeriodPicker
            hours={hours}
            {...(from === undefined ? {} : { from })}
            {...(to === undefined ? {} : { to })}
            onChange={change}
          />
        }
      />
      <div className="flex min-w-0 flex-col gap-4">
        <Figures window={window} />
        <FleetTimeline window={window} />
        <div className="flex flex-wrap items-start gap-2">
          <RunFilters
            query={query}
            keys={queryKeys}
            usualHours={usualHours}
            filter={filter}
            onQuery={apply}
            onChange={change}
          />
          <AgentFilter value={query.agent} onChange={(value) => change({ agent: value })} />
          <SavedViews query={query} onApply={apply} />
          {isOfGroup && <GroupFilters filter={filter} onChange={change} />}
          {isFiltered && <ClearFilters onClear={() => change(noFilter)} />}
        </div>
        <ErrorGroups query={query} filter={filter} />
        <RunsTable
          filter={filter}
          showsAgent
          page={page}
          onPageChange={(next) => change({ page: next })}
          empty={
            isFiltered ? (
              <NoMatch onClear={() => change(noFilter)} />
            ) : (
              <NothingRan
                isAllTime={hours === 0 && !isPeriod}
                onAll={() => change({ ...noPeriod, hours: 0 })}
              />
            )
          }
        />
      </div>
    </>
  )
}

const noPeriod = { from: undefined, to: undefined }
/** Removes all filters but the period. */
const noFilter: Partial<Search> = Object.fromEntries(
  querySearchKeys.flatMap((key) => (['hours', 'from', 'to'].includes(key) ? [] : [[key, undefined]])),
)

function Figures({ window }: { window: RunWindow }) {
  const stats = useQuery(runStatsQuery(useApi(), window))
  if (stats.isError && !stats.data) {
    return (
      <ErrorState
        title="Could not load the run statistics"
        error={stats.error}
        onRetry={() => void stats.refetch()}
        className="rounded-lg border border-line bg-surface"
      />
    )
  }
  const data = stats.data
  return (
    <div className="grid grid-cols-2 gap-3 max-lg:[&>:last-child]:col-span-2 lg:grid-cols-5">
      <StatCard label="Running" value={data?.running_count ?? '–'} />
      <StatCard label="Queued" value={data?.queued_count ?? '–'} />
      <StatCard label="Runs" value={data?.total.toLocaleString('en') ?? '–'} hint={data && endings(data)} />
      <StatCard
        label="Success rate"
        value={data?.success_rate == null ? '–' : formatPercent(data.success_rate)}
        hint={data && `${plural(data.failed_count, 'failure')}`}
        tone={data?.success_rate != null && data.success_rate < 0.8 ? 'danger' : 'neutral'}
      />
      <StatCard label="Cost" value={<Cost usd={data?.total_cost} isEstimated={data?.cost_estimated} />} />
    </div>
  )
}

function endings(stats: { success_count: number; cancelled_count: number; skipped_count: number }): string {
  const { success_count, cancelled_count, skipped_count } = stats
  const parts = [
    `${success_count.toLocaleString('en')} succeeded`,
    cancelled_count > 0 && `${cancelled_count} cancelled`,
    skipped_count > 0 && `${skipped_count} skipped`,
  ]
  return parts.filter(Boolean).join(', ')
}

function ClearFilters({ onClear }: { onClear: () => void }) {
  return (
    <Button variant="ghost" size="sm" onClick={onClear}>
      Clear filters
    </Button>
  )
}

export function NoMatch({ onClear }: { onClear: () => void }) {
  return (
    <EmptyState
      title="No matching runs"
      description="Try a longer time range or fewer filters."
      action={<Button onClick={onClear}>Clear filters</Button>}
    />
  )
}

function NothingRan({ isAllTime, onAll }: { isAllTime: boolean; onAll: () => void }) {
  return (
    <EmptyState
      icon={<Activity aria-hidden />}
      title={isAllTime ? 'No runs yet' : 'No runs in this time range'}
      description="Runs appear here when an agent gets a task or a chat message, or when a schedule fires."
      action={
        <>
          {!isAllTime && <Button onClick={onAll}>Show all time</Button>}
          <Link to="/agents" className={buttonClass({ variant: 'ghost' })}>
            Go to agents
          </Link>
        </>
      }
    />
  )
}
