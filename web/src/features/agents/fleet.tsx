import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { ChartNoAxesGantt, LayoutGrid, Table2 } from 'lucide-react'
import { type ComponentType, Suspense, useDeferredValue, useMemo } from 'react'
import { useApi } from '../../shell/app-context.ts'
import { ErrorState } from '../../ui/error-state.tsx'
import { lazyPart } from '../../ui/lazy-part.tsx'
import { Segmented } from '../../ui/segmented.tsx'
import { Skeleton, SkeletonList } from '../../ui/skeleton.tsx'
import { containersQuery } from '../telemetry/queries.ts'
import { meQuery } from '../users/queries.ts'
import { useCreateAgent } from './create-agent.tsx'
import { FleetFilters } from './fleet-filters.tsx'
import { filterFleet, fleetRows } from './fleet-rows.ts'
import { FleetSummary } from './fleet-summary.tsx'
import { FleetTiles } from './fleet-tiles.tsx'
import { NoAgents } from './no-agents.tsx'
import { agentsQuery, runStatsQuery } from './queries.ts'

// Loaded on demand: it contains much code and is not shown initially.
const FleetTable = lazyPart(async () => (await import('./fleet-table.tsx')).FleetTable)

const route = getRouteApi('/signed-in/agents')

const views = [
  { value: 'tiles', label: 'Tiles', icon: <LayoutGrid /> },
  { value: 'table', label: 'Table', icon: <Table2 /> },
  { value: 'timeline', label: 'Timeline', icon: <ChartNoAxesGantt /> },
] as const

export type FleetProps = {
  /** The timeline of runs, injected by the page because it belongs to another feature. */
  Timeline: ComponentType<{ agents: readonly { name: string; title: string }[] }>
}

/** The agents of the user with their activity, resource usage and runs. */
export function Fleet({ Timeline }: FleetProps) {
  const api = useApi()
  const { q: text, tags, status, owner, view } = route.useSearch()
  const navigate = route.useNavigate()
  const { data: me } = useSuspenseQuery(meQuery(api))
  const agents = useQuery(agentsQuery(api))
  const stats = useQuery(runStatsQuery(api))
  const telemetry = useQuery(containersQuery(api))

  const rows = useMemo(
    () => fleetRows(agents.data ?? [], stats.data?.agents, telemetry.data, me.role === 'admin'),
    [agents.data, stats.data, telemetry.data, me.role],
  )
  const searchText = useDeferredValue(text)
  const shown = useMemo(
    () => filterFleet(rows, { text: searchText, tags, status, owner }),
    [rows, searchText, tags, status, owner],
  )
  const openCreate = useCreateAgent()

  if (agents.isError && !agents.data)
    return <ErrorState error={agents.error} onRetry={() => void agents.refetch()} />
  if (agents.data?.length === 0) return <NoAgents onCreate={openCreate && (() => openCreate(true))} />
  return (
    <div className="flex min-w-0 flex-col gap-4">
      <FleetSummary rows={rows} showsHost={me.role === 'admin'} />
      <div className="flex flex-wrap items-center gap-2">
        <FleetFilters rows={rows} />
        <Segmented
          label="View"
          options={views}
          value={view ?? 'tiles'}
          onValueChange={(next) =>
            void navigate({
              search: (now) => ({ ...now, view: next === 'tiles' ? undefined : next }),
              replace: true,
            })
          }
          className="ml-auto"
        />
      </div>
      {view === 'timeline' && !agents.isPending ? (
        <Suspense fallback={<SkeletonList rows={6} />}>
          <Timeline agents={shown} />
        </Suspense>
      ) : view === 'table' ? (
        <Suspense fallback={<Skeleton className="h-96 w-full" />}>
          <FleetTable rows={shown} isLoading={agents.isPending} />
        </Suspense>
      ) : (
        <FleetTiles rows={shown} isLoading={agents.isPending} />
      )}
    </div>
  )
}
