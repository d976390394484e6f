import type { Loop } from '../../background/loops.ts'
import type { Clock } from '../../kit/clock.ts'
import type { Containers } from '../../ports/containers/port.ts'
import type { AgentRecords } from '../records/index.ts'
import { busySince } from './rules.ts'

export type ProtectDeps = {
  clock: Pick<Clock, 'now'>
  agentRecords: Pick<AgentRecords, 'everyRow'>
  containers: Pick<Containers, 'protect'>
  /** ISO time of the start of the oldest open run of each agent that has one, by agent. */
  runningSince(): Promise<ReadonlyMap<string, string>>
  /** An agent that is never idle loses its protection after this time. 0: nothing is protected. */
  evictionWaitSeconds: number
}

/** Protects the containers of agents in the middle of a turn from evictions. Null if the engine never evicts. */
export function createProtect(deps: ProtectDeps): Loop | null {
  const { clock, agentRecords, containers, evictionWaitSeconds } = deps
  const protect = containers.protect?.bind(containers)
  if (!protect) return null
  /** A process that takes over the loop knows only the runs that are open then. */
  let since: ReadonlyMap<string, number> = new Map()

  return {
    name: 'agents.protect',
    everySeconds: 5,
    perEngine: true,
    async run() {
      const [running, agents] = await Promise.all([deps.runningSince(), agentRecords.everyRow()])
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
      await protect(new Set(ids))
    },
  }
}
