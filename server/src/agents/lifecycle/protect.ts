import type { Loop } from '../../background/loops.ts'
import type { Clock } from '../../kit/clock.ts'
import { ContainerError, type Containers } from '../../ports/containers/port.ts'
import type { Log } from '../../ports/log.ts'
import { createStreak } from '../../ports/log-streak.ts'
import type { AgentRecords } from '../records/index.ts'
import type { Placement } from './placement.ts'
import { busySince } from './rules.ts'

export type ProtectDeps = {
  clock: Pick<Clock, 'now'>
  log: Pick<Log, 'debug' | 'info' | 'warn'>
  agentRecords: Pick<AgentRecords, 'everyRow'>
  containers: Pick<Containers, 'protect'>
  placement: Pick<Placement, 'known'>
  /** ISO time of the start of the oldest open run of each agent that has one, by agent. */
  runningSince(): Promise<ReadonlyMap<string, string>>
  /** An agent that is never idle loses its protection after this time. 0: nothing is protected. */
  evictionWaitSeconds: number
}

/** Protects the containers of agents in the middle of a turn from evictions. Null if the engine never evicts. */
export function createProtect(deps: ProtectDeps): Loop | null {
  const { clock, agentRecords, containers, placement, evictionWaitSeconds } = deps
  const protect = containers.protect?.bind(containers)
  if (!protect) return null
  /** A process that takes over the loop knows only the runs that are open then. */
  let since: ReadonlyMap<string, number> = new Map()
  // Not the loop's own handling of errors: its backoff would leave agents without protection after an outage.
  const streak = createStreak(deps.log, {
    failing: 'agents in the middle of a turn cannot be protected from evictions',
    over: 'agents in the middle of a turn are protected from evictions again',
  })

  return {
    name: 'agents.protect',
    everySeconds: 5,
    per: 'engine',
    async run() {
      const [running, everyAgent] = await Promise.all([deps.runningSince(), agentRecords.everyRow()])
      const agents = everyAgent.filter(({ engine_id }) => engine_id === placement.known())
      const busy = agents.flatMap(({ id, started_at }) => {
        const oldest = running.get(id)
        return oldest === undefined
          ? []
          : [{ id, runningSince: Date.parse(oldest), startedAt: Date.parse(started_at ?? '') || 0 }]
      })
      since = busySince(since, busy)
      const limit = clock.now().getTime() - evictionWaitSeconds * 1000
      const ids = agents.flatMap(({ id, container_id }) =>
        container_id !== null && (since.get(id) ?? 0) > limit ? [container_id] : [],
      )
      try {
        await protect(new Set(ids))
        streak.worked()
      } catch (error) {
        if (!(error instanceof ContainerError)) throw error
        streak.failed(error)
      }
    },
  }
}
