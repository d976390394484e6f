import { agentStatuses } from '@roost/contracts/agents/agent'
import type { DiskUsage } from '@roost/contracts/agents/disk'
import type { ReplicaRole } from '@roost/contracts/operations/replicas'
import { gaugeText, type MetricDefinition, type Sample } from '../../kit/meters.ts'
import type { BackupStatus } from '../backup/index.ts'
import type { Counts } from './store.ts'

/** State of the platform at one moment. */
export type Snapshot = {
  /** Milliseconds since 1970. */
  now: number
  counts: Counts
  agents: readonly { status: string; isLinked: boolean }[]
  slots: number
  socketClients: number
  /** By the name of the agent. */
  disk: ReadonlyMap<string, Pick<DiskUsage, 'used_bytes' | 'quota_bytes'>>
  replicas: readonly { role: ReplicaRole; version: string; count: number }[]
  /** Null: no backup was ever made here. */
  backup: BackupStatus | null
  /** Null: no backup was ever verified here. */
  verification: BackupStatus | null
  version: string
  process: { startedAt: number; memoryBytes: number }
}

type Gauge = { definition: MetricDefinition; samples(snapshot: Snapshot): readonly Sample[] }

const gauges: readonly Gauge[] = [
  gauge('agents', 'Agents by status.', ['status'], ({ agents }) =>
    agentStatuses.map((status) => [[status], agents.filter((agent) => agent.status === status).length]),
  ),
  gauge('agent_links', 'Agents whose program is connected.', [], ({ agents }) =>
    one(agents.filter(({ isLinked }) => isLinked).length),
  ),
  gauge('agents_disconnected', 'Running agents whose program is not connected.', [], ({ agents }) =>
    one(agents.filter(({ status, isLinked }) => status === 'running' && !isLinked).length),
  ),
  gauge('replicas', 'Running processes of Roost.', ['role', 'version'], ({ replicas }) =>
    replicas.map(({ role, version, count }) => [[role, version], count]),
  ),
  gauge('executions_last_day', 'Runs created in the last 24 hours.', ['status', 'trigger'], ({ counts }) =>
    counts.runs.map(({ status, triggered_by, count }) => [[status, triggered_by], count]),
  ),
  gauge('queue_length', 'Runs that wait for a slot.', [], ({ counts }) => one(counts.queued.count)),
  gauge('queue_oldest_seconds', 'Waiting time of the oldest run in the queue.', [], (snapshot) =>
    one(secondsSince(snapshot, snapshot.counts.queued.oldest)),
  ),
  gauge('slots_used', 'Runs that hold a slot.', [], ({ counts }) => one(counts.running.count)),
  gauge('slots', 'Slots of all agents.', [], ({ slots }) => one(slots)),
  gauge(
    'lease_shortest_seconds',
    'Time until the first lease of a run ends; negative when its agent is lost.',
    [],
    (snapshot) => one(-secondsSince(snapshot, snapshot.counts.running.firstLeaseEnds)),
  ),
  gauge('outbox_pending', 'Events without a position.', [], ({ counts }) => one(counts.outbox.count)),
  gauge('outbox_lag_seconds', 'Age of the oldest event without a position.', [], (snapshot) =>
    one(secondsSince(snapshot, snapshot.counts.outbox.oldest)),
  ),
  gauge(
    'scheduler_check_age_seconds',
    'Time since the last check of the leading scheduler.',
    [],
    (snapshot) => one(secondsSince(snapshot, snapshot.counts.scheduler?.checked_at ?? null)),
  ),
  gauge('scheduler_overdue_seconds', 'Delay of the next due fire; 0 when none is due.', [], (snapshot) =>
    one(Math.max(0, secondsSince(snapshot, snapshot.counts.scheduler?.next_due_at ?? null))),
  ),
  gauge(
    'broker_tokens_last_day',
    'Tokens of the runs created in the last 24 hours.',
    ['kind'],
    ({ counts }) =>
      Object.entries(counts.tokens).map(([kind, count]) => [[kind.replace('_tokens', '')], count]),
  ),
  gauge('broker_cost_usd_last_day', 'Cost of these runs in US dollars.', [], ({ counts }) =>
    one(counts.costMicros / 1_000_000),
  ),
  gauge(
    'agent_disk_used_bytes',
    'Size of the volumes and the container of an agent.',
    ['agent'],
    ({ disk }) =>
      [...disk].flatMap(([name, { used_bytes }]) =>
        used_bytes === null ? [] : [[[name], used_bytes] as const],
      ),
  ),
  gauge('agent_disk_quota_bytes', 'Disk quota of an agent; 0 means unlimited.', ['agent'], ({ disk }) =>
    [...disk].map(([name, { quota_bytes }]) => [[name], quota_bytes]),
  ),
  gauge(
    'backup_last_attempt_timestamp_seconds',
    'End of the last backup, successful or not.',
    [],
    ({ backup }) => (backup ? one(Date.parse(backup.attempted_at) / 1000) : []),
  ),
  gauge('backup_last_success', '1 if the last backup succeeded, 0 if it failed.', [], ({ backup }) =>
    backup ? one(backup.result === 'success' ? 1 : 0) : [],
  ),
  gauge('backup_last_success_timestamp_seconds', 'End of the last successful backup.', [], ({ backup }) =>
    backup?.succeeded_at ? one(Date.parse(backup.succeeded_at) / 1000) : [],
  ),
  gauge('backup_last_size_bytes', 'Size of the last successful backup.', [], ({ backup }) =>
    backup?.bytes == null ? [] : one(backup.bytes),
  ),
  gauge(
    'backup_verify_last_success',
    '1 if the last verification of a backup succeeded, 0 if it failed.',
    [],
    ({ verification }) => (verification ? one(verification.result === 'success' ? 1 : 0) : []),
  ),
  gauge(
    'backup_verify_last_success_timestamp_seconds',
    'End of the last successful verification of a backup.',
    [],
    ({ verification }) =>
      verification?.succeeded_at ? one(Date.parse(verification.succeeded_at) / 1000) : [],
  ),
  ofProcess('socket_clients', 'Open live sockets.', [], ({ socketClients }) => one(socketClients)),
  ofProcess('build_info', 'Always 1; the label is the version of Roost.', ['version'], ({ version }) => [
    [[version], 1],
  ]),
  ofProcess('process_start_timestamp_seconds', 'Start of the process.', [], ({ process }) =>
    one(process.startedAt / 1000),
  ),
  ofProcess('process_memory_bytes', 'Resident memory of the process.', [], ({ process }) =>
    one(process.memoryBytes),
  ),
]

export const gaugeDefinitions: readonly MetricDefinition[] = gauges.map(({ definition }) => definition)

export async function gaugesText(snapshot: Snapshot): Promise<string> {
  const texts = gauges.map(({ definition, samples }) => gaugeText(definition, samples(snapshot)))
  return (await Promise.all(texts)).join('')
}

function gauge(
  name: string,
  help: string,
  labels: readonly string[],
  samples: (snapshot: Snapshot) => readonly Sample[],
): Gauge {
  return {
    definition: { name: `roost_${name}`, type: 'gauge', help, labels, scope: 'installation' },
    samples,
  }
}

function ofProcess(...parameters: Parameters<typeof gauge>): Gauge {
  const { definition, samples } = gauge(...parameters)
  return { definition: { ...definition, scope: 'process' }, samples }
}

function one(value: number): Sample[] {
  return [[[], value]]
}

function secondsSince({ now }: Snapshot, at: string | null): number {
  return at === null ? 0 : (now - Date.parse(at)) / 1000
}
