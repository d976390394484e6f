import type { EgressEntry } from '@roost/contracts/agents/egress'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { Check, RefreshCw, Route } from 'lucide-react'
import { useMemo } from 'react'
import { formatNumber } from '../../lib/format.ts'
import { useApi } from '../../shell/app-context.ts'
import { Badge, StatusDot } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { CardHeader } from '../../ui/card.tsx'
import { type DataColumn, DataTable } from '../../ui/data-table.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { Pager } from '../../ui/pager.tsx'
import { Segmented } from '../../ui/segmented.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { useAllowNow } from './actions.ts'
import { type Decision, egressLogQuery, logPageSize } from './queries.ts'
import { addressOf, canBeAllowed, reasonWords, ruleFor } from './words.ts'

const route = getRouteApi('/signed-in/agents/$name')

const decisions = [
  { value: 'all', label: 'All' },
  { value: 'denied', label: 'Refused' },
  { value: 'allowed', label: 'Allowed' },
] as const

/** The destinations that the agent requested, allowed and refused. */
export function EgressLog({ name }: { name: string }) {
  const { status, page = 1 } = route.useSearch()
  const navigate = route.useNavigate()
  const decision = decisions.find(({ value }) => value === status)?.value ?? 'all'
  const log = useQuery(egressLogQuery(useApi(), name, decision, page))
  const { allow, isPending } = useAllowNow(name)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the action never changes, so the columns are memoized
  const columns = useMemo(() => columnsOf((entry) => allow([ruleFor(entry)])), [name])
  const rows = log.data?.rows ?? none
  const open = unlisted(rows)
  const change = (next: { status?: Decision; page?: number }) =>
    void navigate({
      search: (now) => ({ ...now, page: undefined, ...next }),
      replace: true,
      resetScroll: false,
    })
  return (
    <section aria-label="Outbound network log" className="min-w-0 border-t pt-6">
      <CardHeader
        title="Outbound network log"
        description="One row per destination and outcome, latest first. Kept for 30 days."
        actions={
          <>
            <Button
              icon={<RefreshCw aria-hidden />}
              pending={log.isFetching && !log.isPending}
              onClick={() => void log.refetch()}
            >
              Refresh
            </Button>
            {open.length > 1 && (
              <Button
                icon={<Check aria-hidden />}
                pending={isPending}
                onClick={() => allow(open.map(ruleFor))}
              >
                Allow all {open.length} listed
              </Button>
            )}
          </>
        }
      />
      <Segmented
        label="Outcome"
        size="sm"
        options={decisions}
        value={decision}
        onValueChange={(next) => change({ status: next })}
        className="mb-3"
      />
      {log.isError && !log.data ? (
        <ErrorState
          title="Could not load the outbound network log"
          error={log.error}
          onRetry={() => void log.refetch()}
          className="max-w-none rounded-lg border border-line bg-surface"
        />
      ) : (
        <DataTable
          label="Outbound network log"
          columns={columns}
          rows={rows}
          rowKey={(row) => row.id}
          rowLabel={addressOf}
          rowHeight={48}
          sort={null}
          isLoading={log.isPending}
          empty={
            <EmptyState
              icon={<Route aria-hidden />}
              title="No destinations recorded"
              description="In learn and enforce mode, the destinations of each run appear here."
            />
          }
          footer={
            <Pager
              page={page}
              pageSize={logPageSize}
              total={log.data?.total ?? null}
              noun="destination"
              onPageChange={(next) => change({ status: decision, page: next })}
            />
          }
        />
      )}
    </section>
  )
}

/** One rule per destination that a rule would allow. */
function unlisted(rows: readonly EgressEntry[]): EgressEntry[] {
  const found = new Map(rows.filter(canBeAllowed).map((row) => [addressOf(ruleFor(row)), row]))
  return [...found.values()]
}

function columnsOf(allow: (entry: EgressEntry) => void): DataColumn<EgressEntry>[] {
  return [
    {
      id: 'host',
      header: 'Destination',
      grow: true,
      width: 150,
      cell: (row) => (
        <span className="flex min-w-0 flex-col leading-4.5">
          <code className="truncate text-xs" title={addressOf(row)}>
            {addressOf(row)}
          </code>
          <span className="truncate font-normal text-muted text-xs">{reasonWords(row)}</span>
        </span>
      ),
    },
    {
      id: 'decision',
      header: 'Outcome',
      width: 120,
      priority: 2,
      cell: (row) =>
        row.decision === 'allowed' ? (
          <StatusDot tone="success" label="Allowed" />
        ) : (
          <StatusDot tone="danger" label="Refused" />
        ),
    },
    {
      id: 'count',
      header: 'Requests',
      width: 80,
      align: 'end',
      priority: 2,
      cell: (row) => formatNumber(row.count),
    },
    {
      id: 'last',
      header: 'Last request',
      width: 110,
      priority: 2,
      cell: (row) => <RelativeTime at={row.last_at} />,
    },
    {
      id: 'allow',
      header: 'Allow',
      hideHeader: true,
      width: 96,
      align: 'end',
      cell: (row) => {
        if (row.is_listed) return <Badge tone="success">allowed</Badge>
        if (!canBeAllowed(row)) return null
        return (
          <Button size="sm" onClick={() => allow(row)}>
            Allow<span className="sr-only"> {addressOf(ruleFor(row))}</span>
          </Button>
        )
      },
    },
  ]
}

const none: EgressEntry[] = []
