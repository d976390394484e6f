import { ApiError } from '@roost/contracts/client'
import { CalendarClock, Plus } from 'lucide-react'
import { formatCost } from '../lib/format.ts'
import { Banner } from '../ui/banner.tsx'
import { Button } from '../ui/button.tsx'
import { Bytes } from '../ui/bytes.tsx'
import { Card, CardHeader } from '../ui/card.tsx'
import type { ChartPoint } from '../ui/charts/chart-data.ts'
import { Lines } from '../ui/charts/lines.tsx'
import { Sparkline } from '../ui/charts/sparkline.tsx'
import { StackedBars } from '../ui/charts/stacked-bars.tsx'
import { Cost } from '../ui/cost.tsx'
import { EmptyState } from '../ui/empty-state.tsx'
import { ErrorState } from '../ui/error-state.tsx'
import { KeyValues } from '../ui/key-values.tsx'
import { Meter, ProgressBar } from '../ui/progress.tsx'
import { SkeletonList, SkeletonText } from '../ui/skeleton.tsx'
import { StatCard } from '../ui/stat-card.tsx'
import { Duration, RelativeTime } from '../ui/time.tsx'

const failure = new ApiError(500, {
  error: 'internal_error',
  detail: 'Something went wrong on our side.',
  request_id: '0199a1f2-77aa',
})

const days: ChartPoint[] = Array.from({ length: 14 }, (_, day) => ({
  label: `${day + 1} Mar`,
  values: {
    success: 20 + ((day * 7) % 13),
    failed: (day * 5) % 6,
    cancelled: day % 3,
    cost: day === 6 ? null : 0.4 + ((day * 11) % 7) / 9,
    budget: 1.1,
  },
}))

export function StatesPart() {
  return (
    <section aria-label="States" className="flex flex-col gap-4">
      <div className="grid grid-cols-2 gap-3 lg:grid-cols-4">
        <StatCard
          label="Runs today"
          value="128"
          trend={{ direction: 'up', label: '12% more than yesterday', isGood: true }}
          to={(card) => <a href="#runs" {...card} />}
        />
        <StatCard label="Failed" value="3" tone="danger" hint="2 of them timed out" />
        <StatCard
          label="Spent today"
          value={<Cost usd={4.2163} />}
          trend={{ direction: 'down', label: '8% less' }}
        />
        <StatCard
          label="Runs a day"
          value="96"
          chart={<Sparkline values={[3, 5, 4, null, 8, 7, 12]} label="Runs a day, 3 to 12, last 12" />}
        />
      </div>
      <div className="grid gap-2">
        <Banner tone="warning" title="The budget is almost used up" action={<Button size="sm">Raise</Button>}>
          92% of this month's budget is spent.
        </Banner>
        <Banner tone="info">A new version is available.</Banner>
        <Banner tone="success">Saved.</Banner>
        <Banner tone="danger" title="Connection lost" />
      </div>
      <div className="grid gap-4 sm:grid-cols-2">
        <Card>
          <CardHeader title="Executions" description="The last 14 days" />
          <StackedBars
            label="Executions a day"
            data={days}
            series={[
              { id: 'success', label: 'Success', tone: 'success' },
              { id: 'failed', label: 'Failed', tone: 'danger' },
              { id: 'cancelled', label: 'Cancelled', tone: 'muted' },
            ]}
          />
        </Card>
        <Card>
          <CardHeader title="Cost" />
          <Lines
            label="Cost a day"
            data={days}
            format={formatCost}
            series={[
              { id: 'cost', label: 'Cost' },
              { id: 'budget', label: 'Budget', tone: 'warning' },
            ]}
          />
        </Card>
        <Card>
          <EmptyState
            icon={<CalendarClock aria-hidden />}
            title="No schedules yet"
            description="A schedule runs the agent at set times, for example each weekday morning."
            action={
              <Button variant="primary" icon={<Plus aria-hidden />}>
                New schedule
              </Button>
            }
          />
        </Card>
        <Card>
          <ErrorState error={failure} onRetry={() => {}} />
        </Card>
        <Card className="flex flex-col gap-4">
          <Meter label="Memory" value={1.4} max={4} text="1.4 of 4 GB" />
          <Meter label="Disk" value={17} max={20} />
          <Meter label="Budget" value={99} max={100} />
          <ProgressBar label="Import" value={0.4} />
          <ProgressBar label="Sync" value={null} />
          <SkeletonText />
          <SkeletonList rows={2} />
        </Card>
        <Card>
          <KeyValues
            items={[
              { label: 'Started', value: <RelativeTime at={Date.now() - 200_000} /> },
              { label: 'Duration', value: <Duration ms={250_000} /> },
              { label: 'Cost', value: <Cost usd={0.004213} /> },
              { label: 'Workspace', value: <Bytes bytes={25_165_824} /> },
              { label: 'Parent', value: null },
            ]}
          />
        </Card>
      </div>
    </section>
  )
}
