import type { AgentDetails } from '@roost/contracts/agents/agent'
import { analyticsWindows } from '@roost/contracts/runs/analytics'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useApi } from '../../shell/app-context.ts'
import { ErrorState } from '../../ui/error-state.tsx'
import { Segmented } from '../../ui/segmented.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { AgentHealth } from '../monitoring/agent-health.tsx'
import { Attention } from './attention.tsx'
import { NowCard } from './now-card.tsx'
import { analyticsQuery } from './queries.ts'
import { SpendCard } from './spend-card.tsx'
import { Trends } from './trends.tsx'

const route = getRouteApi('/signed-in/agents/$name')

const windows = [
  { value: '7d', label: '7 days' },
  { value: '14d', label: '14 days' },
  { value: '30d', label: '30 days' },
] as const

/** The state of an agent: problems, current activity, run statistics and cost. */
export function OverviewTab({ agent }: { agent: AgentDetails }) {
  const { window: text } = route.useSearch()
  const navigate = route.useNavigate()
  const window = analyticsWindows.find((each) => each === text) ?? '7d'
  const analytics = useQuery(analyticsQuery(useApi(), agent.name, window))
  return (
    <div className="mx-auto flex w-full max-w-7xl min-w-0 flex-col gap-6">
      <div className="grid min-w-0 gap-4 lg:grid-cols-2">
        <Attention agent={agent} />
        <NowCard agent={agent} />
      </div>
      <AgentHealth name={agent.name} />
      <section aria-labelledby="trends" className="flex min-w-0 flex-col gap-3">
        <div className="flex flex-wrap items-center justify-between gap-2">
          <h2 id="trends" className="font-semibold text-base">
            Run statistics
          </h2>
          <Segmented
            size="sm"
            label="Time range"
            options={windows}
            value={window}
            onValueChange={(next) =>
              void navigate({
                search: (now) => ({ ...now, window: next === '7d' ? undefined : next }),
                replace: true,
                resetScroll: false,
              })
            }
          />
        </div>
        {analytics.data ? (
          <Trends analytics={analytics.data} name={agent.name} />
        ) : analytics.error ? (
          <ErrorState
            title="Could not load the run statistics"
            error={analytics.error}
            onRetry={() => void analytics.refetch()}
            className="rounded-lg border border-line bg-surface"
          />
        ) : (
          <Skeleton className="h-80 rounded-lg" />
        )}
      </section>
      <SpendCard name={agent.name} />
    </div>
  )
}
