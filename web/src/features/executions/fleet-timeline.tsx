import { useQuery } from '@tanstack/react-query'
import { costText } from '../../lib/format.ts'
import { useApi } from '../../shell/app-context.ts'
import { Card } from '../../ui/card.tsx'
import { StackedBars } from '../../ui/charts/stacked-bars.tsx'
import { bucketLabel } from './bucket-label.ts'
import { type RunWindow, runTimelineQuery } from './queries.ts'

const series = [
  { id: 'success', label: 'Succeeded', tone: 'success' },
  { id: 'failed', label: 'Failed', tone: 'danger' },
  { id: 'other', label: 'Other', tone: 'muted' },
] as const

/** Longest time range in hours that is grouped by hour; longer ones are grouped by day. */
const hoursInHours = 48

/** The outcomes of runs over the time range. */
export function FleetTimeline({ window }: { window: RunWindow }) {
  const length = hoursOf(window)
  const group = length > 0 && length <= hoursInHours ? 'hour' : 'day'
  const timeline = useQuery(runTimelineQuery(useApi(), window, group))
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

/** The length of the time range; 0 for all time. A single day is 24 hours. */
function hoursOf({ hours, from, to }: RunWindow): number {
  if (!from && !to) return hours
  return from && to ? (Date.parse(to) - Date.parse(from)) / 3_600_000 + 24 : 0
}
