import type { Fire } from '@roost/contracts/triggers/firing'
import type { Schedule } from '@roost/contracts/triggers/schedules'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import { formatClock, formatDate, formatExactTime } from '../../lib/format.ts'
import { useApi } from '../../shell/app-context.ts'
import { StatusDot } from '../../ui/badge.tsx'
import { type DataColumn, DataTable } from '../../ui/data-table.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { Segmented } from '../../ui/segmented.tsx'
import { errorWords } from '../executions/words.ts'
import { firesMost, firesQuery } from './queries.ts'
import { outcomeWords, reasonWords } from './words.ts'

const route = getRouteApi('/signed-in/agents/$name')

const choices = [
  { value: 'all', label: 'All' },
  { value: 'not_run', label: 'Not fired' },
] as const

/** The outcome of every due time: shows why a schedule did not run. */
export function DueHistory({ name, schedule }: { name: string; schedule: Schedule }) {
  const { status } = route.useSearch()
  const navigate = route.useNavigate()
  const fires = useQuery(firesQuery(useApi(), name, schedule.id))
  const shown = status === 'not_run' ? 'not_run' : 'all'
  const columns = useMemo(() => columnsOf(name), [name])
  const rows = (fires.data ?? []).filter(({ outcome }) => shown === 'all' || outcome !== 'fired')
  if (fires.isError && !fires.data) {
    return (
      <ErrorState
        title="Could not load the due times"
        error={fires.error}
        onRetry={() => void fires.refetch()}
      />
    )
  }
  return (
    <div className="flex min-w-0 flex-col gap-3">
      <Segmented
        label="Filter"
        size="sm"
        options={choices}
        value={shown}
        onValueChange={(value) =>
          void navigate({
            search: (now) => ({ ...now, status: value === 'all' ? undefined : value }),
            replace: true,
            resetScroll: false,
          })
        }
      />
      <DataTable
        label="Due times"
        columns={columns}
        rows={rows}
        rowKey={(row) => row.due_at}
        sort={null}
        rowHeight={52}
        isLoading={fires.isPending}
        empty={
          shown === 'all' ? (
            <EmptyState
              title="No due times yet"
              description="Manual and webhook triggers are listed under “Runs”."
            />
          ) : (
            <EmptyState title="The schedule fired at every due time" />
          )
        }
        footer={
          rows.length >= firesMost ? (
            <span className="text-muted text-xs">The newest {firesMost} are shown.</span>
          ) : undefined
        }
      />
    </div>
  )
}

function columnsOf(name: string): DataColumn<Fire>[] {
  return [
    {
      id: 'due',
      header: 'Due time',
      width: 104,
      cell: ({ due_at }) => {
        const at = Date.parse(due_at)
        return (
          <time dateTime={due_at} title={formatExactTime(at)} data-numeric className="flex flex-col">
            {formatClock(at)}
            <span className="text-muted text-xs">{formatDate(at, Date.now())}</span>
          </time>
        )
      },
    },
    { id: 'outcome', header: 'Outcome', grow: true, width: 120, cell: (row) => <Outcome row={row} /> },
    {
      id: 'run',
      header: 'Run',
      width: 60,
      cell: ({ execution_id: id }) =>
        id === null ? (
          <span className="text-faint">–</span>
        ) : (
          <Link
            to="/agents/$name/executions/$id"
            params={{ name, id }}
            className="text-accent hover:underline"
          >
            View
          </Link>
        ),
    },
  ]
}

function Outcome({ row }: { row: Fire }) {
  const failure = Object.entries(errorWords).find(([code]) => code === row.reason)?.[1]
  const why = row.reason === null ? null : (failure ?? reasonWords(row.reason))
  return (
    <span
      className="flex min-w-0 flex-col"
      title={why ? [why.title, why.hint].filter(Boolean).join('. ') : undefined}
    >
      <StatusDot {...outcomeWords[row.outcome]} />
      {why && (
        <span className="truncate text-muted text-xs">
          {why.title}
          {why.hint && <span className="text-faint max-md:hidden">. {why.hint}</span>}
        </span>
      )}
    </span>
  )
}
