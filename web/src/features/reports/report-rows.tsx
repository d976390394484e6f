import type { ReportSummary } from '@roost/contracts/operations/reports'
import { useInfiniteQuery } from '@tanstack/react-query'
import { FileChartColumn } from 'lucide-react'
import { useMemo } from 'react'
import { useApi } from '../../shell/app-context.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { type DataColumn, DataTable } from '../../ui/data-table.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { type ReportFilter, reportsQuery } from './queries.ts'

type ReportRowsProps = {
  filter: ReportFilter
  onOpen: (id: string) => void
  /** Clears the filters; undefined when no filter is set. */
  onClear?: (() => void) | undefined
}

/** Reports, newest first, with infinite scrolling. */
export function ReportRows({ filter, onOpen, onClear }: ReportRowsProps) {
  const list = useInfiniteQuery(reportsQuery(useApi(), filter))
  const rows = useMemo(() => list.data?.pages.flat() ?? [], [list.data])
  if (list.isError && !list.data) {
    return (
      <ErrorState
        title="Could not load the reports"
        error={list.error}
        onRetry={() => void list.refetch()}
        className="rounded-lg border border-line bg-surface"
      />
    )
  }
  const more = () => {
    if (list.hasNextPage) void list.fetchNextPage()
  }
  return (
    <DataTable
      label="List of reports"
      columns={columns}
      rows={rows}
      rowKey={({ id }) => id}
      rowLabel={({ title }) => title}
      rowHeight={52}
      rowHref={({ id }) => `/inbox?tab=reports&report=${encodeURIComponent(id)}`}
      onOpenRow={({ id }) => onOpen(id)}
      isLoading={list.isPending}
      // A refresh of the first pages would end the loading of the next one, or be ended by it.
      onEndReached={list.isFetching || list.isFetchNextPageError ? undefined : more}
      empty={
        <EmptyState
          icon={<FileChartColumn aria-hidden />}
          title={onClear ? 'No matching reports' : 'No reports yet'}
          description={
            onClear
              ? undefined
              : 'Agents submit reports with their report tool, for example after a nightly run.'
          }
          action={onClear && <Button onClick={onClear}>Clear filters</Button>}
        />
      }
    />
  )
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
    header: 'Type',
    width: 180,
    priority: 2,
    cell: ({ report_type }) => <Badge>{report_type}</Badge>,
  },
  {
    id: 'at',
    header: 'Created',
    width: 120,
    cell: ({ created_at }) => <RelativeTime at={created_at} className="text-muted" />,
  },
]
