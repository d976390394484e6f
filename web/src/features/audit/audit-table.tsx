import type { AuditLogEntry } from '@roost/contracts/foundation/audit'
import { useInfiniteQuery } from '@tanstack/react-query'
import { ScrollText } from 'lucide-react'
import { useMemo } from 'react'
import { formatNumber } from '../../lib/format.ts'
import { useApi } from '../../shell/app-context.ts'
import { Button } from '../../ui/button.tsx'
import { DataTable } from '../../ui/data-table.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { auditColumns } from './audit-columns.tsx'
import { type AuditSearch, type AuditWindow, isFiltered, noFilter } from './filter.ts'
import { auditLogQuery } from './queries.ts'

type AuditTableProps = {
  search: AuditSearch
  window: AuditWindow
  change: (next: AuditSearch & { entry?: string }, replace?: boolean) => void
  /** User names by account ID. */
  names: ReadonlyMap<string, string>
}

/** Entries, newest first, with infinite scrolling. */
export function AuditTable({ search, window, change, names }: AuditTableProps) {
  const log = useInfiniteQuery(auditLogQuery(useApi(), search, window))
  const rows = useMemo(() => distinct(log.data?.pages.flatMap(({ entries }) => entries) ?? []), [log.data])
  const columns = useMemo(() => auditColumns(names), [names])
  if (log.isError && !log.data) {
    return (
      <ErrorState
        title="Could not load the audit log"
        error={log.error}
        onRetry={() => void log.refetch()}
        className="rounded-lg border border-line bg-surface"
      />
    )
  }
  const total = log.data?.pages.at(-1)?.total ?? 0
  const more = () => {
    if (log.hasNextPage && !log.isFetchingNextPage) void log.fetchNextPage()
  }
  return (
    <DataTable
      label="Audit log"
      columns={columns}
      rows={rows}
      rowKey={(row) => row.event_id}
      rowLabel={(row) => row.event_action}
      sort={null}
      onOpenRow={(row) => change({ entry: row.event_id }, false)}
      // A refresh of the first pages would end the loading of the next one, or be ended by it.
      onEndReached={log.isFetching || log.isFetchNextPageError ? undefined : more}
      columnChoice="audit"
      isLoading={log.isPending}
      empty={
        isFiltered(search) ? (
          <EmptyState
            title="No matching entries"
            description="Try a longer time range or fewer filters."
            action={<Button onClick={() => change(noFilter)}>Clear filters</Button>}
          />
        ) : (
          <EmptyState
            icon={<ScrollText aria-hidden />}
            title="No entries in this time range"
            description="Writes, refused requests and sign-ins appear here."
            action={
              <Button onClick={() => change({ hours: 0, from: undefined, to: undefined })}>
                Show all time
              </Button>
            }
          />
        )
      }
      footer={
        rows.length > 0 && (
          <div className="flex h-6 items-center gap-2 text-muted text-xs">
            <span role="status" className="tabular-nums">
              {formatNumber(rows.length)} of {formatNumber(Math.max(total, rows.length))} entries
            </span>
            {log.isFetchNextPageError ? (
              <Button size="sm" variant="ghost" onClick={() => void log.fetchNextPage()}>
                Could not load more entries. Try again
              </Button>
            ) : (
              log.hasNextPage && (
                <Button size="sm" variant="ghost" pending={log.isFetchingNextPage} onClick={more}>
                  Load more
                </Button>
              )
            )}
          </div>
        )
      }
    />
  )
}

/** New entries shift the pages, so an entry may arrive twice. */
function distinct(entries: readonly AuditLogEntry[]): AuditLogEntry[] {
  return [...new Map(entries.map((entry) => [entry.event_id, entry])).values()]
}
