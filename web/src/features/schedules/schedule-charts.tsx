import type { ScheduleAnalytics } from '@roost/contracts/triggers/schedule-analytics'
import type { Schedule } from '@roost/contracts/triggers/schedules'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { formatCost, formatDate, formatDuration, formatPercent, plural } from '../../lib/format.ts'
import { useApi } from '../../shell/app-context.ts'
import { Card } from '../../ui/card.tsx'
import { StackedBars } from '../../ui/charts/stacked-bars.tsx'
import { Cost } from '../../ui/cost.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { Segmented } from '../../ui/segmented.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { StatCard } from '../../ui/stat-card.tsx'
import { Duration } from '../../ui/time.tsx'
import { type Hours, scheduleAnalyticsQuery } from './queries.ts'

const windows = [
  { value: '24', label: '24 h' },
  { value: '168', label: '7 days' },
  { value: '720', label: '30 days' },
] as const

/** The run statistics of a schedule. */
export function ScheduleCharts({ name, schedule }: { name: string; schedule: Schedule }) {
  const [hours, setHours] = useState<Hours>('168')
  const analytics = useQuery(scheduleAnalyticsQuery(useApi(), name, schedule.id, hours))
  return (
    <section aria-labelledby="schedule-figures" className="flex min-w-0 flex-col gap-3">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <h3 id="schedule-figures" className="font-semibold text-base">
          Run statistics
        </h3>
        <Segmented label="Time range" size="sm" options={windows} value={hours} onValueChange={setHours} />
      </div>
      {analytics.data ? (
        <Drawn analytics={analytics.data} />
      ) : analytics.error ? (
        <ErrorState
          title="Could not load the run statistics"
          error={analytics.error}
          onRetry={() => void analytics.refetch()}
        />
      ) : (
        <Skeleton className="h-60 w-full" />
      )}
    </section>
  )
}

function Drawn({ analytics }: { analytics: ScheduleAnalytics }) {
  const { timeline, duration_ms: duration, success_rate: rate, cost, total_executions: total } = analytics
  if (total === 0) return <p className="text-muted text-sm">No runs in this time range.</p>
  return (
    <>
      <div className="grid grid-cols-2 gap-3 lg:grid-cols-5">
        <StatCard label="Runs" value={total.toLocaleString('en')} hint={others(analytics)} />
        <StatCard
          label="Success rate"
          value={rate === null ? '–' : formatPercent(rate)}
          hint={plural(analytics.failed_count, 'failure')}
          tone={rate !== null && rate < 0.8 ? 'danger' : 'neutral'}
        />
        <StatCard label="Median duration" value={<Duration ms={duration.p50} />} hint="50th percentile" />
        <StatCard
          label="Duration, 95th percentile"
          value={<Duration ms={duration.p95} />}
          hint={
            analytics.sampled ? `Of the newest ${analytics.sample_size} runs` : '1 in 20 runs takes longer'
          }
        />
        <StatCard
          label="Cost"
          value={<Cost usd={cost.total} isEstimated={cost.estimated} />}
          hint={cost.avg === null ? undefined : `${formatCost(cost.avg)} per run`}
        />
      </div>
      <div className="grid min-w-0 gap-3 lg:grid-cols-2">
        <Chart title="Outcomes per day (UTC)">
          <StackedBars
            label="Outcomes of the schedule’s runs per day"
            height={160}
            series={[
              { id: 'success', label: 'Succeeded', tone: 'success' },
              { id: 'failed', label: 'Failed', tone: 'danger' },
              { id: 'cancelled', label: 'Cancelled', tone: 'muted' },
              { id: 'skipped', label: 'Skipped', tone: 'warning' },
            ]}
            data={timeline.map(({ date, success, failed, cancelled, skipped }) => ({
              label: dayWord(date),
              values: { success, failed, cancelled, skipped },
            }))}
          />
        </Chart>
        <Chart title="Cost per day (UTC)">
          <StackedBars
            label="Cost of the schedule per day"
            height={160}
            series={[{ id: 'cost', label: 'Cost' }]}
            format={formatCost}
            data={timeline.map((day) => ({ label: dayWord(day.date), values: { cost: day.cost } }))}
          />
        </Chart>
      </div>
      <Tools analytics={analytics} />
    </>
  )
}

function Tools({ analytics: { tool_calls: tools } }: { analytics: ScheduleAnalytics }) {
  if (tools.top.length === 0) return null
  return (
    <Card>
      <h4 className="mb-2 font-medium text-muted text-xs">Tools by total duration</h4>
      <ul className="flex flex-col gap-1 text-sm">
        {tools.top.map((tool) => (
          <li key={tool.name} className="flex items-baseline justify-between gap-4">
            <code className="truncate text-xs">{tool.name}</code>
            <span data-numeric className="shrink-0 text-muted">
              {plural(tool.calls, 'call')} · {formatDuration(tool.total_duration_ms)}
            </span>
          </li>
        ))}
      </ul>
    </Card>
  )
}

function Chart({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Card>
      <h4 className="mb-3 font-medium text-muted text-xs">{title}</h4>
      {children}
    </Card>
  )
}

function others({ cancelled_count, skipped_count }: ScheduleAnalytics): string | undefined {
  const words = [
    cancelled_count > 0 && `${cancelled_count} cancelled`,
    skipped_count > 0 && `${skipped_count} skipped`,
  ]
  return words.filter(Boolean).join(', ') || undefined
}

/** Days are in UTC. Noon falls on the same day in every time zone. */
function dayWord(date: string): string {
  const at = Date.parse(`${date}T12:00:00Z`)
  return formatDate(at, at, { timeZone: 'UTC' })
}
