import type { AgentRecords } from '../../agents/records/index.ts'
import type { Settings } from '../../agents/settings/index.ts'
import type { Clock } from '../../kit/clock.ts'
import type { Db } from '../../ports/database/port.ts'
import type { Figures } from './figures.ts'
import { createLatencies, type ObservedRequest } from './latencies.ts'
import { readCounts } from './store.ts'

export type { ObservedRequest } from './latencies.ts'

export type Metrics = {
  /** Records the latency of a request. Never throws. */
  observe(request: ObservedRequest): void
  /** All figures, in the text format of Prometheus. */
  page(): Promise<{ contentType: string; text: string }>
}

export type MetricsDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  agentRecords: Pick<AgentRecords, 'all'>
  effectiveParallel: Settings['effectiveParallel']
  isLinked(agentId: string): boolean
  socketClients(): number
}

const dayMs = 86_400_000

/** The first scrape loads the metrics library, because most platforms are never scraped. */
export function createMetrics(deps: MetricsDeps): Metrics {
  const { db, clock, agentRecords } = deps
  const latencies = createLatencies()
  let loading: Promise<Figures> | null = null

  return {
    observe: latencies.observe,
    async page() {
      loading ??= import('./figures.ts').then(({ createFigures }) => createFigures())
      const { page } = await loading
      const now = clock.now().getTime()
      const [counts, agents] = await Promise.all([
        readCounts(db, new Date(now - dayMs).toISOString()),
        agentRecords.all(),
      ])
      const limits = await Promise.all(agents.map(deps.effectiveParallel))
      const { contentType, text } = await page({
        now,
        counts,
        agents,
        links: agents.filter(({ id }) => deps.isLinked(id)).length,
        slots: limits.reduce((sum, limit) => sum + limit, 0),
        socketClients: deps.socketClients(),
      })
      return { contentType, text: `${text.trimEnd()}\n\n${latencies.text()}` }
    },
  }
}
