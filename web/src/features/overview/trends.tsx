import type { Analytics, RunBucket } from '@roost/contracts/runs/analytics'
import { Link } from '@tanstack/react-router'
import { ChartLine } from 'lucide-react'
import type { ReactNode } from 'react'
import { formatCost, formatDate, formatDuration, formatPercent, plural } from '../../lib/format.ts'
import { buttonClass } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import type { ChartTone } from '../../ui/charts/chart-data.ts'
import { Lines } from '../../ui/charts/lines.tsx'
import { StackedBars } from '../../ui/charts/stacked-bars.tsx'
import { Cost } from '../../ui/cost.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { StatCard } from '../../ui/stat-card.tsx'
import { Duration } from '../../ui/time.tsx'

type Look = { label: string; tone: ChartTone }

/** No trigger uses the colour of failures. */
const bucketLooks: Record<RunBucket, Look> = {
  chats_tasks: { label: 'Chats and tasks', tone: 'accent' },
  scheduled: { label: 'Scheduled', tone: 'info' },
  agents: { label: 'Agents', tone: 'warning' },
  mcp: { label: 'MCP', tone: 'success' },
  loops: { label: 'Loops', tone: 'muted' },
  reminders: { label: 'Reminders', tone: 'info' },
  channels: { label: 'Channels', tone: 'warning' },
  public: { label: 'Public', tone: 'success' },
  voice: { label: 'Voice', tone: 'accent' },
  other: { label: 'Other', tone: 'muted' },
}

/** Runs, success, duration and cost of an agent per day. */
export function Trends({ analytics, name }: { analytics: Analytics; name: string }) {
  if (analytics.total_executions === 0) return <NothingRan name={name} />
  const { timeline } = analytics
  const point = (date: string, values: Record<string, number | null>) => ({ label: dayWord(date), values })
  const buckets = analytics.by_type.filter(({ total }) => total > 0).map(({ bucket }) => bucket)
  return (
    <>
      <Figures analytics={analytics} />
      <div className="grid min-w-0 gap-3 lg:grid-cols-2">
        <Chart title="Runs by trigger">
          <StackedBars
            label="Runs by trigger per day"
            height={160}
            series={buckets.map((bucket) => ({ id: bucket, ...bucketLooks[bucket] }))}
            data={timeline.map(({ date, by_type }) =>
              point(date, Object.fromEntries(buckets.map((bucket) => [bucket, by_type[bucket] ?? 0]))),
            )}
          />
        </Chart>
        <Chart title="Outcomes">
          <StackedBars
            label="Outcomes of runs per day"
            height={160}
            series={[
              { id: 'success', label: 'Succeeded', tone: 'success' },
              { id: 'failed', label: 'Failed', tone: 'danger' },
              { id: 'other', label: 'Other', tone: 'muted' },
            ]}
            data={timeline.map(({ date, total, success, failed }) =>
              point(date, { success, failed, other: total - success - failed }),
            )}
          />
        </Chart>
        <Chart title="Cost">
          <StackedBars
            label="Cost per day"
            height={160}
            series={[{ id: 'cost', label: 'Cost' }]}
            format={formatCost}
            data={timeline.map(({ date, cost }) => point(date, { cost }))}
          />
        </Chart>
        <Chart title="Average duration of successful runs">
          <Lines
            label="Average duration per day"
            height={160}
            series={[{ id: 'duration', label: 'Average duration' }]}
            format={formatDuration}
            scale="duration"
            data={timeline.map(({ date, duration_avg_ms }) => point(date, { duration: duration_avg_ms }))}
          />
        </Chart>
      </div>
    </>
  )
}

function Figures({ analytics }: { analytics: Analytics }) {
  const { duration_ms: duration, success_rate: rate } = analytics
  return (
    <div className="grid grid-cols-2 gap-3 lg:grid-cols-4">
      <StatCard
        label="Runs"
        value={analytics.total_executions.toLocaleString('en')}
        hint={others(analytics)}
      />
      <StatCard
        label="Success rate"
        value={rate === null ? '–' : formatPercent(rate)}
        hint={plural(analytics.failed_count, 'failure')}
        tone={rate !== null && rate < 0.8 ? 'danger' : 'neutral'}
      />
      <StatCard
        label="Median duration"
        value={<Duration ms={duration.p50} />}
        hint={
          duration.p95 === null
            ? 'No successful runs yet'
            : `95th percentile: ${formatDuration(duration.p95)}${analytics.sampled ? ' (newest 5,000 runs)' : ''}`
        }
      />
      <StatCard
        label="Cost"
        value={<Cost usd={analytics.cost_total} isEstimated={analytics.cost_estimated} />}
        hint={`${formatCost(analytics.cost_total / analytics.total_executions)} a run`}
      />
    </div>
  )
}

function others({ cancelled_count: cancelled, skipped_count: skipped }: Analytics): string | undefined {
  const words = [cancelled > 0 && `${cancelled} cancelled`, skipped > 0 && `${skipped} skipped`]
  return words.filter(Boolean).join(', ') || undefined
}

function Chart({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Card>
      <h3 className="mb-3 font-medium text-muted text-xs">{title}</h3>
      {children}
    </Card>
  )
}

function NothingRan({ name }: { name: string }) {
  return (
    <Card>
      <EmptyState
        icon={<ChartLine aria-hidden />}
        title="No run in this time"
        description="Trends of success, cost and duration appear with its first runs."
        action={
          <Link to="/agents/$name" params={{ name }} search={{ tab: 'executions' }} className={buttonClass()}>
            Send a task
          </Link>
        }
      />
    </Card>
  )
}

/** Days are counted in UTC. */
function dayWord(date: string): string {
  const at = Date.parse(date)
  return formatDate(at, at, { timeZone: 'UTC' })
}
