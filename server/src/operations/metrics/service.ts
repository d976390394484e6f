import type { AgentRecords } from '../../agents/records/index.ts'
import type { Settings } from '../../agents/settings/index.ts'
import type { Clock } from '../../kit/clock.ts'
import type { Db } from '../../ports/database/port.ts'
import type { Figures } from './figures.ts'
import { readCounts } from './store.ts'

export type ObservedRequest = { method: string; route: string; status: number; seconds: number }

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

/** Upper bounds in seconds; higher values count as `+Inf`. */
const bounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60] as const
const name = 'roost_http_request_seconds'
const help = 'Requests answered by this process, by route; streams until their end.'

type Series = { labels: string; counts: number[]; sum: number }

type Latencies = {
  observe(request: ObservedRequest): void
  /** A histogram in the text format of Prometheus. */
  text(): string
}

/**
 * Counts latencies from the first request on. Does not use the metrics library, whose memory most platforms would
 * waste: only the first scrape loads it.
 */
function createLatencies(): Latencies {
  const all = new Map<string, Series>()

  function seriesOf({ method, route, status }: ObservedRequest): Series {
    const labels = `method="${method}",route="${route}",status="${status}"`
    let series = all.get(labels)
    if (!series) {
      series = { labels, counts: new Array(bounds.length + 1).fill(0), sum: 0 }
      all.set(labels, series)
    }
    return series
  }

  return {
    observe(request) {
      const series = seriesOf(request)
      const found = bounds.findIndex((bound) => request.seconds <= bound)
      const bucket = found < 0 ? bounds.length : found
      series.counts[bucket] = (series.counts[bucket] ?? 0) + 1
      series.sum += request.seconds
    },

    text() {
      const lines = [...all.values()].flatMap(linesOf)
      return [`# HELP ${name} ${help}`, `# TYPE ${name} histogram`, ...lines, ''].join('\n')
    },
  }
}

/** Buckets are cumulative. */
function linesOf({ labels, counts, sum }: Series): string[] {
  let total = 0
  const buckets = counts.map((count, index) => {
    total += count
    return `${name}_bucket{le="${bounds[index] ?? '+Inf'}",${labels}} ${total}`
  })
  return [...buckets, `${name}_sum{${labels}} ${sum}`, `${name}_count{${labels}} ${total}`]
}
