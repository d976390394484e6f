import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { Grid3x3 } from 'lucide-react'
import { useMemo } from 'react'
import { plural } from '../../lib/format.ts'
import { useApi } from '../../shell/app-context.ts'
import { Button } from '../../ui/button.tsx'
import { CardHeader } from '../../ui/card.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { SearchInput } from '../../ui/input.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { agentsQuery } from '../agents/queries.ts'
import { meQuery } from '../users/queries.ts'
import { useEdge } from './changes.ts'
import { edgeSet } from './edges.ts'
import { Matrix } from './matrix.tsx'
import { edgesQuery } from './queries.ts'

const route = getRouteApi('/signed-in/agents')

/** The permission matrix: which agent may call which. */
export function FleetPermissions() {
  return (
    <>
      <CardHeader
        title="Agent permissions"
        description="A check mark permits the agent of the row to call the agent of the column. Rows of other owners’ agents are read-only."
      />
      <FleetMatrix />
    </>
  )
}

function FleetMatrix() {
  const api = useApi()
  const { data: me } = useSuspenseQuery(meQuery(api))
  const agents = useQuery(agentsQuery(api))
  const edges = useQuery(edgesQuery(api))
  const { mutate } = useEdge()
  const { q = '', called = '' } = route.useSearch()
  const navigate = route.useNavigate()
  const change = (next: { q?: string | undefined; called?: string | undefined }) =>
    void navigate({ search: (now) => ({ ...now, ...next }), replace: true, resetScroll: false })

  const all = useMemo(
    () =>
      (agents.data ?? [])
        .map(({ name, is_owner }) => ({ name, mayEdit: is_owner || me.role === 'admin' }))
        .sort((left, right) => left.name.localeCompare(right.name)),
    [agents.data, me.role],
  )
  const permitted = useMemo(() => edgeSet(edges.data?.edges ?? []), [edges.data])

  const failed = [agents, edges].find((query) => query.isError && !query.data)
  if (failed) {
    return (
      <ErrorState
        title="Could not load the permissions"
        error={failed.error}
        onRetry={() => void Promise.all([agents.refetch(), edges.refetch()])}
        className="rounded-lg border border-line bg-surface"
      />
    )
  }
  if (!agents.data || !edges.data) return <Skeleton className="h-72" />
  if (all.length < 2) return <TooFew />

  const rows = all.filter(({ name }) => matches(name, q))
  const columns = all.filter(({ name }) => matches(name, called)).map(({ name }) => name)
  return (
    <>
      <div className="mb-3 flex flex-wrap items-center gap-2">
        <SearchInput
          label="Search callers"
          value={q}
          onValueChange={(text) => change({ q: text || undefined })}
          className="w-full sm:w-52"
        />
        <SearchInput
          label="Search called agents"
          value={called}
          onValueChange={(text) => change({ called: text || undefined })}
          className="w-full sm:w-52"
        />
        <span className="text-muted text-xs" role="status">
          {plural(edges.data.edges.length, 'permission')} among {plural(all.length, 'agent')}
        </span>
      </div>
      {rows.length === 0 || columns.length === 0 ? (
        <EmptyState
          title="No matching agents"
          action={<Button onClick={() => change({ q: undefined, called: undefined })}>Clear search</Button>}
          className="rounded-lg border border-line bg-surface"
        />
      ) : (
        <Matrix
          rows={rows}
          columns={columns}
          permitted={permitted}
          onChange={(source, target, isOn) => mutate({ source, target, permitted: isOn })}
        />
      )}
    </>
  )
}

function TooFew() {
  return (
    <EmptyState
      icon={<Grid3x3 aria-hidden />}
      title="No permissions to set yet"
      description="Create at least two agents to set permissions between them."
      className="rounded-lg border border-line bg-surface"
    />
  )
}

function matches(name: string, text: string): boolean {
  return name.includes(text.trim().toLowerCase())
}
