import type { Costs } from '@roost/contracts/runs/costs'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { ChartColumnStacked } from 'lucide-react'
import { useState } from 'react'
import { formatCost, formatDate } from '../../lib/format.ts'
import { useApi } from '../../shell/app-context.ts'
import { PageHelp } from '../../shell/page-help.tsx'
import { Card, CardHeader } from '../../ui/card.tsx'
import { StackedBars } from '../../ui/charts/stacked-bars.tsx'
import { DataTable } from '../../ui/data-table.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { firstLine } from '../executions/first-line.ts'
import { fleetRunColumns } from '../executions/run-columns.tsx'
import { addressOf, pageOf } from '../executions/run-page.ts'
import { CostFigures } from './cost-figures.tsx'
import { CostFilters } from './cost-filters.tsx'
import { CostGroups } from './cost-groups.tsx'
import { CostLimits } from './cost-limits.tsx'
import { DownloadCosts } from './download-costs.tsx'
import { chartOf, groupingOf, limitOf, runsOf } from './groups.ts'
import { periodOf } from './period.ts'
import { type CostFilter, costsQuery } from './queries.ts'

const route = getRouteApi('/signed-in/costs')
type Search = ReturnType<typeof route.useSearch>

/** What the runs cost: by day and group, against the limits, and until the end of the month. */
export function CostsPage() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const [now] = useState(Date.now)
  const by = groupingOf(search.by)
  const period = periodOf(search, now)
  const filter: CostFilter = { from: period.from, to: period.to, by, agent: search.agent }
  const costs = useQuery(costsQuery(useApi(), filter))
  const change = (next: Partial<Search>) =>
    void navigate({ search: (old) => ({ ...old, ...next }), replace: true, resetScroll: false })
  return (
    <>
      <PageHeader
        title="Costs"
        aside={<PageHelp guide="operate/costs" topic="Costs" />}
        description="Days are in UTC, like the daily limits."
        actions={<DownloadCosts filter={filter} />}
      />
      <CostFilters by={by} agent={search.agent} period={period} onChange={change} />
      {costs.isError && !(costs.data && !costs.isPlaceholderData) ? (
        <ErrorState
          title="Could not load the costs"
          error={costs.error}
          onRetry={() => void costs.refetch()}
          className="rounded-lg border border-line bg-surface"
        />
      ) : costs.data ? (
        <div
          className={costs.isPlaceholderData ? 'flex flex-col gap-4 opacity-60' : 'flex flex-col gap-4'}
          aria-busy={costs.isPlaceholderData || undefined}
        >
          <Content costs={costs.data} filter={{ ...filter, by: costs.data.group_by }} />
        </div>
      ) : (
        <Skeleton className="h-96 w-full" />
      )}
    </>
  )
}

function Content({ costs, filter }: { costs: Costs; filter: CostFilter }) {
  if (costs.runs === 0) {
    return (
      <>
        <CostFigures costs={costs} />
        <Card>
          <EmptyState
            icon={<ChartColumnStacked aria-hidden />}
            title="No costs in this period"
            description="Costs appear here when runs use a model. Try a longer period or another agent."
          />
        </Card>
        <CostLimits limits={costs.limits} />
      </>
    )
  }
  return (
    <>
      <CostFigures costs={costs} />
      <CostChart costs={costs} filter={filter} />
      <div className="grid min-w-0 items-start gap-4 lg:grid-cols-2">
        <CostGroups costs={costs} filter={filter} />
        <CostLimits limits={costs.limits} />
      </div>
      <TopRuns runs={costs.top_runs} />
    </>
  )
}

function CostChart({ costs, filter }: { costs: Costs; filter: CostFilter }) {
  const navigate = useNavigate()
  const { group_by: by, groups, days } = costs
  const { series, points } = chartOf(costs)
  const found = limitOf(costs, filter.agent)
  const limitText = found && `Daily limit: ${formatCost(found.limit.daily_usd)}`
  const pick = (point: number, id: string) => {
    const day = days[point]?.date
    const group = id === 'others' ? undefined : groups[Number(id)]
    if (day === undefined) return
    const period = { from: day, to: day, agent: filter.agent }
    const search = (group && runsOf(by, group, period)) ?? period
    void navigate({ to: '/runs', search })
  }
  return (
    <Card aria-label="Costs by day">
      <CardHeader title={`By day and ${by}`} />
      <StackedBars
        label={`Cost per day by ${by}${limitText ? `. ${limitText}` : ''}`}
        heading="Day (UTC)"
        height={240}
        format={formatCost}
        series={series}
        data={points.map(({ date, values }) => ({
          label: formatDate(Date.parse(date), Date.now(), { timeZone: 'UTC' }),
          values,
        }))}
        limit={found?.isInChart && limitText ? { value: found.limit.daily_usd, label: limitText } : undefined}
        onPick={pick}
      />
      {found && !found.isInChart && (
        <p className="mt-2 text-muted text-xs">{limitText}, far above the cost of these days.</p>
      )}
    </Card>
  )
}

function TopRuns({ runs }: { runs: Costs['top_runs'] }) {
  const navigate = useNavigate()
  return (
    <section aria-labelledby="top-runs" className="min-w-0">
      <h2 id="top-runs" className="mb-2 font-semibold text-sm">
        Most expensive runs
      </h2>
      <DataTable
        label="Most expensive runs"
        columns={columns}
        rows={runs}
        rowKey={(run) => run.id}
        rowLabel={(run) => firstLine(run.message)}
        rowHref={(run) => addressOf(run)}
        onOpenRow={(run) => void navigate(pageOf(run))}
        sort={null}
      />
    </section>
  )
}

/** The cost stays visible on the narrowest screens. */
const columns = fleetRunColumns
  .filter(({ id }) => id !== 'status')
  .map((column) => (column.id === 'cost' ? { ...column, priority: 1 as const } : column))
