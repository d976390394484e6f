import { z } from 'zod'
import { endpoint } from '../kit/endpoint.ts'
import { Id, Timestamp, TimestampInput } from '../kit/primitives.ts'

/** The processes of an installation that keep running. */
export const replicaRoles = ['api', 'scheduler', 'mcp'] as const
export type ReplicaRole = (typeof replicaRoles)[number]

/** `silent`: no heartbeat for 15 seconds, so its leases have expired. */
export const replicaStates = ['live', 'silent'] as const
export type ReplicaState = (typeof replicaStates)[number]

export const LedLease = z
  .object({
    name: z.string().describe('The background loop, or `scheduler`.'),
    since: Timestamp.nullable().describe('Null if an earlier version granted the lease.'),
    until: Timestamp.describe('After this time another replica can take the lease, unless it is renewed.'),
  })
  .meta({ id: 'LedLease' })
export type LedLease = z.output<typeof LedLease>

export const Replica = z
  .object({
    id: Id.describe('A new id at each start.'),
    role: z.enum(replicaRoles),
    host_name: z.string(),
    process_id: z.number().int(),
    version: z.string(),
    git_commit: z.string().nullable(),
    schema_version: z
      .string()
      .nullable()
      .describe('Newest migration that this process knows; null: it opens no database.'),
    agent_address: z
      .string()
      .nullable()
      .describe('Address at which agents reach this replica, if announced.'),
    engine_id: z
      .string()
      .nullable()
      .describe('Container engine that an API process uses; null while it is unknown.'),
    started_at: Timestamp,
    last_heartbeat_at: Timestamp,
    state: z.enum(replicaStates),
    is_current: z.boolean().describe('This replica answered the request.'),
    leases: z.array(LedLease).describe('Leases that this replica holds, by name.'),
  })
  .meta({ id: 'Replica' })
export type Replica = z.output<typeof Replica>

export const ReplicaList = z
  .object({
    timestamp: Timestamp,
    versions: z
      .array(z.string())
      .describe('Versions of the live replicas; several during a rolling upgrade.'),
    replicas: z.array(Replica).describe('Sorted by role, host name and start.'),
  })
  .meta({ id: 'ReplicaList' })
export type ReplicaList = z.output<typeof ReplicaList>

export const listReplicas = endpoint({
  id: 'listReplicas',
  method: 'GET',
  path: '/api/ops/replicas',
  summary: 'List the processes of the installation and what each one leads',
  description:
    'A replica that ended is removed from the list immediately, a killed one 10 minutes after its last heartbeat.',
  tag: 'Operations',
  access: { who: 'admin', scopes: ['ops'] },
  returns: ReplicaList,
})

const text = z.string().min(1).max(255)

/** For processes without a database; the others write their row themselves. */
export const reportReplica = endpoint({
  id: 'reportReplica',
  method: 'PUT',
  path: '/api/internal/replicas/{replica_id}',
  summary: 'Record a heartbeat of a process without a database',
  tag: 'Internal',
  access: { who: 'internal' },
  params: z.object({ replica_id: Id }),
  body: z.object({
    role: z.literal('mcp'),
    host_name: text,
    process_id: z.number().int(),
    version: text,
    git_commit: text.nullable(),
    started_at: TimestampInput,
  }),
  returns: z.object({ next_seconds: z.number().describe('Time until the next heartbeat is expected.') }),
})

export const removeReplica = endpoint({
  id: 'removeReplica',
  method: 'DELETE',
  path: '/api/internal/replicas/{replica_id}',
  summary: 'Remove a process that ends',
  tag: 'Internal',
  access: { who: 'internal' },
  params: z.object({ replica_id: Id }),
  returns: z.object({ status: z.literal('removed') }),
})
