import { useQuery } from '@tanstack/react-query'
import { plural } from '../../lib/format.ts'
import { useApi } from '../../shell/app-context.ts'
import { Sparkline } from '../../ui/charts/sparkline.tsx'
import { useNear } from '../../ui/use-near.ts'
import { runTimelineQuery } from '../executions/queries.ts'

/** Runs per hour of the last day, fetched when the tile comes near the screen. */
export function RunSparkline({ name, isIdle }: { name: string; isIdle: boolean }) {
  const { ref, isNear } = useNear<HTMLDivElement>(false)
  const { data } = useQuery({
    ...runTimelineQuery(useApi(), { agent: name, hours: 24 }, 'hour'),
    // Separate from the other queries, so that events do not refetch every tile. Up to a minute old.
    queryKey: ['sparkline', name],
    staleTime: 60_000,
    enabled: isNear && !isIdle,
  })
  const counts = data?.buckets.map(({ total }) => total) ?? []
  const maxRuns = Math.max(0, ...counts)
  const failed = data?.buckets.reduce((sum, bucket) => sum + bucket.failed, 0) ?? 0
  return (
    <div ref={ref} className="h-6 min-w-0">
      {counts.length > 1 && maxRuns > 0 && (
        <Sparkline
          values={counts}
          label={`Runs per hour in 24 h, at most ${maxRuns}; ${plural(failed, 'failure')}`}
          tone={failed > 0 ? 'danger' : 'accent'}
          className="w-full"
        />
      )}
    </div>
  )
}
