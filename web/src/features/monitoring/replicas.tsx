import type { LedLease, Replica, ReplicaList, ReplicaRole } from '@roost/contracts/operations/replicas'
import { useQuery } from '@tanstack/react-query'
import { plural } from '../../lib/format.ts'
import { useApi } from '../../shell/app-context.ts'
import { Badge, StatusDot } from '../../ui/badge.tsx'
import { Banner } from '../../ui/banner.tsx'
import { Card, CardHeader } from '../../ui/card.tsx'
import { type DataColumn, DataTable } from '../../ui/data-table.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { replicasQuery } from './queries.ts'

/** The processes of the installation, for admins. */
export function Replicas() {
  const list = useQuery(replicasQuery(useApi()))
  return (
    <Card aria-label="Replicas">
      <CardHeader
        title="Replicas"
        description="The running processes of Roost. Background loops run in one replica at a time, under a lease."
      />
      {list.isError && !list.data ? (
        <ErrorState
          title="Could not load the replicas"
          error={list.error}
          onRetry={() => void list.refetch()}
        />
      ) : list.data ? (
        <Tables list={list.data} />
      ) : (
        <Skeleton className="h-24" />
      )}
    </Card>
  )
}

function Tables({ list: { replicas, versions } }: { list: ReplicaList }) {
  const leases = replicas.flatMap((replica) => replica.leases.map((lease) => ({ ...lease, replica })))
  return (
    <div className="flex flex-col gap-3">
      {versions.length > 1 && (
        <Banner tone="warning" title="Versions differ">
          {versions.join(' and ')} run side by side. Finish the upgrade by restarting the older replicas.
        </Banner>
      )}
      <DataTable label="Replicas" columns={columns} rows={replicas} rowKey={({ id }) => id} rowHeight={52} />
      {leases.length > 0 && (
        <details className="rounded-md border border-line">
          <summary className="cursor-default px-3 py-2 font-medium text-sm select-none hover:bg-hover">
            {plural(leases.length, 'lease')}
          </summary>
          <DataTable
            label="Leases"
            columns={leaseColumns}
            rows={leases}
            rowKey={({ name }) => name}
            defaultSort={{ id: 'name', desc: false }}
            className="rounded-none border-x-0 border-b-0"
          />
        </details>
      )}
    </div>
  )
}

const roleWords: Record<ReplicaRole, string> = { api: 'API', scheduler: 'Scheduler', mcp: 'MCP server' }

/** Identifies a replica among those of its role. */
const placeOf = ({ host_name, process_id }: Replica) => `${host_name} · ${process_id}`

const columns: readonly DataColumn<Replica>[] = [
  {
    id: 'role',
    header: 'Replica',
    width: 190,
    grow: true,
    sortValue: ({ role }) => role,
    cell: (replica) => (
      <span className="flex min-w-0 flex-col">
        <span className="flex items-center gap-1.5 font-medium">
          {roleWords[replica.role]}
          {replica.is_current && <Badge>This one</Badge>}
        </span>
        <span className="truncate text-muted text-xs">{placeOf(replica)}</span>
      </span>
    ),
  },
  {
    id: 'state',
    header: 'State',
    width: 90,
    cell: ({ state }) => (
      <StatusDot
        tone={state === 'live' ? 'success' : 'danger'}
        label={state === 'live' ? 'Live' : 'Silent'}
      />
    ),
  },
  {
    id: 'version',
    header: 'Version',
    width: 110,
    priority: 2,
    sortValue: ({ version }) => version,
    cell: ({ version, git_commit }) => (
      <span className="flex min-w-0 flex-col" title={git_commit ?? undefined}>
        <span className="truncate">{version}</span>
        {git_commit && <code className="truncate text-muted text-xs">{git_commit.slice(0, 10)}</code>}
      </span>
    ),
  },
  {
    id: 'schema',
    header: 'Schema',
    width: 150,
    priority: 3,
    sortValue: ({ schema_version }) => schema_version,
    cell: ({ schema_version }) => <span className="block truncate text-muted">{schema_version ?? '–'}</span>,
  },
  {
    id: 'leases',
    header: 'Leases',
    width: 80,
    align: 'end',
    priority: 2,
    sortValue: ({ leases }) => leases.length,
    cell: ({ leases }) => <span data-numeric>{leases.length}</span>,
  },
  {
    id: 'started',
    header: 'Started',
    width: 110,
    priority: 3,
    sortValue: ({ started_at }) => started_at,
    cell: ({ started_at }) => <RelativeTime at={started_at} />,
  },
  {
    id: 'heartbeat',
    header: 'Last heartbeat',
    width: 130,
    priority: 2,
    sortValue: ({ last_heartbeat_at }) => last_heartbeat_at,
    cell: ({ last_heartbeat_at }) => <RelativeTime at={last_heartbeat_at} />,
  },
]

type LeaseRow = LedLease & { replica: Replica }

const leaseColumns: readonly DataColumn<LeaseRow>[] = [
  {
    id: 'name',
    header: 'Lease',
    width: 180,
    grow: true,
    sortValue: ({ name }) => name,
    cell: ({ name }) => <span className="block truncate">{name}</span>,
  },
  {
    id: 'replica',
    header: 'Held by',
    width: 150,
    sortValue: ({ replica }) => placeOf(replica),
    cell: ({ replica }) => (
      <span className="block truncate text-muted">
        {roleWords[replica.role]} · {placeOf(replica)}
      </span>
    ),
  },
  {
    id: 'since',
    header: 'Since',
    width: 110,
    priority: 2,
    sortValue: ({ since }) => since,
    cell: ({ since }) => <RelativeTime at={since} />,
  },
]
