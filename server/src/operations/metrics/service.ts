import type { Directory } from '../../agents/directory/index.ts'
import type { Settings } from '../../agents/settings/index.ts'
import type { Clock } from '../../kit/clock.ts'
import type { Db } from '../../ports/database/port.ts'
import type { Figures, ObservedRequest } from './figures.ts'
import { readCounts } from './store.ts'

export type { ObservedRequest } from './figures.ts'

export type Metrics = {
  /** Takes in how long a request took. Never throws; before anybody has looked it does nothing. */
  observe(request: ObservedRequest): void
  /** Everything, as Prometheus reads it. */
  page(): Promise<{ contentType: string; text: string }>
}

export type MetricsDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  directory: Pick<Directory, 'all'>
  effectiveParallel: Settings['effectiveParallel']
  isLinked(agentId: string): boolean
  socketClients(): number
}

const dayMs = 86_400_000

/** The library of the figures is loaded by the first look: most platforms are looked at by nobody. */
export function createMetrics(deps: MetricsDeps): Metrics {
  const { db, clock, directory } = deps
  let figures: Figures | null = null
  let loading: Promise<Figures> | null = null

  async function load(): Promise<Figures> {
    const { createFigures } = await import('./figures.ts')
    figures = createFigures()
    return figures
  }

  return {
    observe: (request) => figures?.observe(request),
    async page() {
      loading ??= load()
      const { page } = await loading
      const now = clock.now().getTime()
      const [counted, agents] = await Promise.all([
        readCounts(db, new Date(now - dayMs).toISOString()),
        directory.all(),
      ])
      const limits = await Promise.all(agents.map(deps.effectiveParallel))
      return page({
        now,
        counted,
        agents,
        links: agents.filter(({ id }) => deps.isLinked(id)).length,
        slots: limits.reduce((sum, limit) => sum + limit, 0),
        socketClients: deps.socketClients(),
      })
    },
  }
}
