import type { Disk } from '../../agents/disk/index.ts'
import type { AgentRecords } from '../../agents/records/index.ts'
import type { Settings } from '../../agents/settings/index.ts'
import type { Replicas } from '../../foundation/replicas/index.ts'
import type { Clock } from '../../kit/clock.ts'
import { type MetricDefinition, metricsContentType } from '../../kit/meters.ts'
import { createMeters, type Meters } from '../../kit/platform-meters.ts'
import type { Db } from '../../ports/database/port.ts'
import type { RunHooks } from '../../runs/executions/index.ts'
import { readBackupStatus, readVerifyStatus } from '../backup/index.ts'
import { gaugeDefinitions, gaugesText } from './gauges.ts'
import { readCounts } from './store.ts'

export type ObservedRequest = { method: string; route: string; status: number; seconds: number }

export type Metrics = {
  /** Records the latency of a request. Never throws. */
  observe(request: ObservedRequest): void
  /** All metrics, in the text format of Prometheus. */
  page(): Promise<{ contentType: string; text: string }>
}

export type MetricsDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  meters: Meters
  hooks: Pick<RunHooks, 'onClaimed' | 'onEnded'>
  agentRecords: Pick<AgentRecords, 'all'>
  disk: Pick<Disk, 'usages'>
  effectiveParallel: Settings['effectiveParallel']
  isLinked(agentId: string): boolean
  replicas: Pick<Replicas, 'live'>
  socketClients(): number
  version: string
  /** The folder with the record of the last backup. */
  dataDir: string
}

const dayMs = 86_400_000

export function createMetrics(deps: MetricsDeps): Metrics {
  const { db, clock, meters, agentRecords } = deps
  const startedAt = clock.now().getTime()

  deps.hooks.onClaimed(({ queued_at, triggered_by }, now) => {
    if (queued_at !== null)
      meters.dispatchSeconds.observe(
        [triggered_by],
        Math.max(0, now.getTime() - Date.parse(queued_at)) / 1000,
      )
  })
  deps.hooks.onEnded(async (tx, { status, triggered_by }) =>
    tx.onCommitted(() => meters.runsFinished.add([status, triggered_by])),
  )

  return {
    observe({ method, route, status, seconds }) {
      meters.httpSeconds.observe([method, route, String(status)], seconds)
      meters.httpRequests.add([method, route, `${Math.floor(status / 100)}xx`])
    },
    async page() {
      const now = clock.now().getTime()
      const [counts, agents, disk, replicas, backup, verification] = await Promise.all([
        readCounts(db, new Date(now - dayMs).toISOString()),
        agentRecords.all(),
        deps.disk.usages(),
        deps.replicas.live(),
        readBackupStatus(deps.dataDir),
        readVerifyStatus(deps.dataDir),
      ])
      const limits = await Promise.all(agents.map(deps.effectiveParallel))
      const gauges = await gaugesText({
        now,
        counts,
        agents: agents.map(({ id, status }) => ({ status, isLinked: deps.isLinked(id) })),
        slots: limits.reduce((sum, limit) => sum + limit, 0),
        socketClients: deps.socketClients(),
        disk,
        replicas,
        backup,
        verification,
        version: deps.version,
        process: { startedAt, memoryBytes: process.memoryUsage.rss() },
      })
      const measured = await Promise.all(Object.values(meters).map((meter) => meter.text()))
      return { contentType: metricsContentType, text: [gauges, ...measured].join('') }
    },
  }
}

/** Every metric of `/metrics`, by name. */
export function metricDefinitions(): MetricDefinition[] {
  const measured = Object.values(createMeters()).map(({ definition }) => definition)
  return [...gaugeDefinitions, ...measured].toSorted((one, other) => (one.name < other.name ? -1 : 1))
}
