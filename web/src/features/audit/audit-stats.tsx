import type { AuditLogStats } from '@roost/contracts/foundation/audit'
import { auditTypes } from '@roost/contracts/kit/endpoint'
import { useQuery } from '@tanstack/react-query'
import { formatDate, formatNumber, plural } from '../../lib/format.ts'
import { useApi } from '../../shell/app-context.ts'
import { Card } from '../../ui/card.tsx'
import { StackedBars } from '../../ui/charts/stacked-bars.tsx'
import { cx } from '../../ui/class-names.ts'
import { ErrorState } from '../../ui/error-state.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import type { AuditSearch, AuditWindow } from './filter.ts'
import { auditStatsQuery } from './queries.ts'
import { typeLabels } from './words.ts'

type AuditStatsProps = { window: AuditWindow; search: AuditSearch; change: (next: AuditSearch) => void }

/** Entries in the time range by day and by subject. Each subject is also a filter. */
export function AuditStats({ window, search, change }: AuditStatsProps) {
  const stats = useQuery(auditStatsQuery(useApi(), search, window))
  if (stats.isError && !stats.data) {
    return (
      <ErrorState
        title="Could not load the statistics"
        error={stats.error}
        onRetry={() => void stats.refetch()}
        className="rounded-lg border border-line bg-surface py-4"
      />
    )
  }
  if (!stats.data) return <Skeleton className="h-36" />
  if (stats.data.total === 0) return null
  const { by_event_type, by_day } = stats.data
  const types = auditTypes.filter((type) => (by_event_type[type] ?? 0) > 0)
  return (
    <Card className="grid gap-x-6 gap-y-4 lg:grid-cols-[minmax(0,1fr)_minmax(0,1fr)]">
      <div className="min-w-0">
        <h2 className="mb-2 font-medium text-muted text-xs">
          {plural(stats.data.total, 'entry', 'entries')} per day in this time range
        </h2>
        <StackedBars
          label="Entries per day"
          height={104}
          series={[{ id: 'entries', label: 'Entries' }]}
          data={by_day.map(point)}
        />
      </div>
      <div className="min-w-0">
        <h2 className="mb-2 font-medium text-muted text-xs">By subject</h2>
        <ul className="flex flex-wrap gap-1.5">
          {types.map((type) => {
            const isChosen = search.type === type
            return (
              <li key={type}>
                <button
                  type="button"
                  aria-pressed={isChosen}
                  onClick={() => change({ type: isChosen ? undefined : type })}
                  className={cx(
                    'inline-flex h-6 items-center gap-1.5 rounded-sm border px-2 text-xs',
                    isChosen
                      ? 'border-accent bg-accent-soft text-accent'
                      : 'border-line text-ink hover:border-line-strong hover:bg-hover',
                  )}
                >
                  {typeLabels[type]}
                  <span className={cx('tabular-nums', !isChosen && 'text-muted')}>
                    {formatNumber(by_event_type[type] ?? 0)}
                  </span>
                </button>
              </li>
            )
          })}
        </ul>
      </div>
    </Card>
  )
}

/** Days are in UTC. */
function point({ date, count }: AuditLogStats['by_day'][number]) {
  const at = Date.parse(date)
  return { label: formatDate(at, at, { timeZone: 'UTC' }), values: { entries: count } }
}
