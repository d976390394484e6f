import { useQuery } from '@tanstack/react-query'
import { costText } from '../../lib/format.ts'
import { useApi } from '../../shell/app-context.ts'
import { Card } from '../../ui/card.tsx'
import { StackedBars } from '../../ui/charts/stacked-bars.tsx'
import { bucketLabel } from './bucket-label.ts'
import { runTimelineQuery } from './queries.ts'

const series = [
  { id: 'success', label: 'Succeeded', tone: 'success' },
  { id: 'failed', label: 'Failed', tone: 'danger' },
  { id: 'other', label: 'Other', tone: 'muted' },
] as const

/** Longest time range in hours that is grouped by hour; longer ones are grouped by day. */
const hoursInHours = 48

/** The outcomes of runs over the time range. */
export function FleetTimeline({ agent, hours }: { agent: string | undefined; hours: number }) {
  const group = hours > 0 && hours <= hoursInHours ? 'hour' : 'day'
  const timeline = useQuery(runTimelineQuery(useApi(), { hours, ...(agent ? { agent } : {}) }, group))
  const buckets = timeline.data?.buckets ?? []
  // The statistics above report a failed request; an empty chart would add nothing.
  if (buckets.every(({ total }) => total === 0)) return null
  const by = timeline.data?.group_by ?? group
  const cost = buckets.reduce((sum, bucket) => sum + bucket.cost, 0)
  const isEstimated = buckets.some((bucket) => bucket.cost_estimated)
  return (
    <Card>
      <StackedBars
        label={`Runs by ${by}, ${costText(cost, isEstimated)} total`}
        height={160}
        series={series}
        data={buckets.map(({ bucket, total, success, failed }) => ({
          label: bucketLabel(bucket, by),
          values: { success, failed, other: total - success - failed },
        }))}
      />
    </Card>
  )
}
