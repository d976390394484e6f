import type { ReportSummary } from '@roost/contracts/operations/reports'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { FileChartColumn } from 'lucide-react'
import { useMemo } from 'react'
import { useApi } from '../../shell/app-context.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { CardHeader } from '../../ui/card.tsx'
import { Combobox } from '../../ui/combobox.tsx'
import { type DataColumn, DataTable } from '../../ui/data-table.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { reportStatsQuery, reportsQuery } from './queries.ts'
import { ReportView } from './report-view.tsx'

const route = getRouteApi('/signed-in/operations')

/** What agents handed in, or the one that the address names. */
export function Reports() {
  const { report } = route.useSearch()
  return report === undefined ? <ReportList /> : <ReportView key={report} id={report} />
}

function ReportList() {
  const api = useApi()
  const { agent, type } = route.useSearch()
  const navigate = route.useNavigate()
  const list = useInfiniteQuery(reportsQuery(api, { agent, type }))
  const rows = useMemo(() => list.data?.pages.flat() ?? [], [list.data])
  const isFiltered = agent !== undefined || type !== undefined
  const change = (next: { agent?: string | undefined; type?: string | undefined }) =>
    void navigate({ search: (now) => ({ ...now, ...next }), replace: true, resetScroll: false })
  const open = (id: string) => void navigate({ search: (now) => ({ ...now, tab: 'reports', report: id }) })
  return (
    <section aria-label="Reports" className="flex min-w-0 flex-col gap-3">
      <CardHeader
        title="Reports"
        description="What agents handed in. A report never changes."
        className="mb-0"
      />
      <Filters agent={agent} type={type} change={change} />
      {list.isError && !list.data ? (
        <ErrorState
          title="The reports could not be loaded"
          error={list.error}
          onRetry={() => void list.refetch()}
          className="rounded-lg border border-line bg-surface"
        />
      ) : (
        <DataTable
          label="List of reports"
          columns={columns}
          rows={rows}
          rowKey={({ id }) => id}
          rowLabel={({ title }) => title}
          rowHeight={52}
          rowHref={({ id }) => `/operations?tab=reports&report=${encodeURIComponent(id)}`}
          onOpenRow={({ id }) => open(id)}
          isLoading={list.isPending}
          onEndReached={() => list.hasNextPage && !list.isFetchingNextPage && void list.fetchNextPage()}
          empty={
            <EmptyState
              icon={<FileChartColumn aria-hidden />}
              title={isFiltered ? 'No report matches' : 'No report yet'}
              description={
                isFiltered
                  ? undefined
                  : 'An agent hands one in with its tool for reports, for example after a nightly run.'
              }
              action={
                isFiltered && (
                  <Button onClick={() => change({ agent: undefined, type: undefined })}>Clear filters</Button>
                )
              }
            />
          }
        />
      )}
    </section>
  )
}

type FiltersProps = {
  agent: string | undefined
  type: string | undefined
  change: (next: { agent?: string | undefined; type?: string | undefined }) => void
}

/** Offers what there are reports of. */
function Filters({ agent, type, change }: FiltersProps) {
  const { data: stats } = useQuery(reportStatsQuery(useApi()))
  return (
    <div className="grid grid-cols-2 gap-2 sm:flex sm:flex-wrap">
      <Combobox
        label="Kind of report"
        placeholder="Any kind"
        options={choicesOf(stats?.by_type)}
        value={type ?? null}
        onValueChange={(value) => change({ type: value ?? undefined })}
        clearable
        className="w-full sm:w-48"
      />
      <Combobox
        label="Agent"
        placeholder="Any agent"
        options={choicesOf(stats?.by_agent)}
        value={agent ?? null}
        onValueChange={(value) => change({ agent: value ?? undefined })}
        clearable
        className="w-full sm:w-48"
      />
    </div>
  )
}

function choicesOf(counts: Record<string, number> | undefined) {
  return Object.entries(counts ?? {}).map(([value, count]) => ({ value, label: value, hint: String(count) }))
}

const columns: readonly DataColumn<ReportSummary>[] = [
  {
    id: 'title',
    header: 'Report',
    grow: true,
    width: 200,
    cell: ({ title, agent_name }) => (
      <span className="flex min-w-0 flex-col">
        <span className="truncate font-medium">{title}</span>
        <span className="truncate font-normal text-muted text-xs">{agent_name}</span>
      </span>
    ),
  },
  {
    id: 'kind',
    header: 'Kind',
    width: 180,
    priority: 2,
    cell: ({ report_type }) => <Badge>{report_type}</Badge>,
  },
  {
    id: 'at',
    header: 'Handed in',
    width: 120,
    cell: ({ created_at }) => <RelativeTime at={created_at} className="text-muted" />,
  },
]
