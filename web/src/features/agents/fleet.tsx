import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { ChartNoAxesGantt, LayoutGrid, Plus, Table2 } from 'lucide-react'
import { type ComponentType, Suspense, useDeferredValue, useMemo } from 'react'
import { useApi } from '../../shell/app-context.ts'
import { Page } from '../../shell/page.tsx'
import { PageHelp } from '../../shell/page-help.tsx'
import { Button } from '../../ui/button.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { lazyPart } from '../../ui/lazy-part.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { Segmented } from '../../ui/segmented.tsx'
import { Skeleton, SkeletonList } from '../../ui/skeleton.tsx'
import { containersQuery } from '../telemetry/queries.ts'
import { meQuery } from '../users/queries.ts'
import { FleetFilters } from './fleet-filters.tsx'
import { filterFleet, fleetRows } from './fleet-rows.ts'
import { FleetSummary } from './fleet-summary.tsx'
import { FleetTiles } from './fleet-tiles.tsx'
import { NoAgents } from './no-agents.tsx'
import { agentsQuery, runStatsQuery } from './queries.ts'

// Loaded on demand: both contain much code and are not shown initially.
const CreateAgentDialog = lazyPart(async () => (await import('./create-agent-dialog.tsx')).CreateAgentDialog)
const FleetTable = lazyPart(async () => (await import('./fleet-table.tsx')).FleetTable)

const route = getRouteApi('/signed-in/')

const views = [
  { value: 'tiles', label: 'Tiles', icon: <LayoutGrid /> },
  { value: 'table', label: 'Table', icon: <Table2 /> },
  { value: 'timeline', label: 'Timeline', icon: <ChartNoAxesGantt /> },
] as const

export type FleetProps = {
  /** The timeline of runs, injected by the page because it belongs to another feature. */
  Timeline: ComponentType<{ agents: readonly { name: string; title: string }[] }>
  /** The last backup, for admins; also of another feature. */
  Backups: ComponentType
}

/** The agents of the user with their activity, resource usage and runs. */
export function Fleet({ Timeline, Backups }: FleetProps) {
  const api = useApi()
  const { q: text, tags, status, owner, view, create, template } = route.useSearch()
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
  const mayCreate = me.role === 'admin' || me.role === 'creator'
  const setCreating = (isOpen: boolean) =>
    void navigate({
      search: (now) => ({ ...now, create: isOpen || undefined, template: isOpen ? template : undefined }),
      replace: true,
    })

  return (
    <Page>
      <PageHeader
        title="Agents"
        aside={<PageHelp guide="tutorial" topic="Your first agent" />}
        actions={
          mayCreate ? (
            <Button variant="primary" icon={<Plus />} onClick={() => setCreating(true)}>
              Create agent
            </Button>
          ) : null
        }
      />
      {agents.isError && !agents.data ? (
        <ErrorState error={agents.error} onRetry={() => void agents.refetch()} />
      ) : agents.data?.length === 0 ? (
        <NoAgents onCreate={mayCreate ? () => setCreating(true) : null} />
      ) : (
        <div className="flex min-w-0 flex-col gap-4">
          <FleetSummary rows={rows} />
          <Suspense fallback={me.role === 'admin' ? <Skeleton className="h-14 w-full" /> : null}>
            <Backups />
          </Suspense>
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
      )}
      {create && mayCreate ? (
        <Suspense fallback={null}>
          <CreateAgentDialog open onOpenChange={setCreating} template={template} />
        </Suspense>
      ) : null}
    </Page>
  )
}
