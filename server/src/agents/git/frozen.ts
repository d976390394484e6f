import { createCache } from '../../kit/cache.ts'
import type { Clock } from '../../kit/clock.ts'
import type { Db } from '../../ports/database/port.ts'
import { failureThreshold } from './rules.ts'
import { gitStore } from './store.ts'

/** Agents whose schedules are paused because their syncs fail. */
export type Frozen = {
  /** Number of consecutive failed syncs of an agent with paused schedules; null if they may fire. */
  after(agentId: string): Promise<number | null>
  /** Clears the cache after a possible change. */
  forget(): void
}

/** Changes by other processes are visible after this time. Fires due together share one query. */
const maxAgeSeconds = 2

export function createFrozen({ db, clock }: { db: Db; clock: Clock }): Frozen {
  const all = createCache<Map<string, number>>({
    clock,
    maxAgeSeconds,
    maxEntries: 1,
    load: async () => {
      const rows = await gitStore(db).frozen(failureThreshold)
      return new Map(rows.map(({ agent_id, consecutive_failures }) => [agent_id, consecutive_failures]))
    },
  })
  return {
    after: async (agentId) => (await all.get('all'))?.get(agentId) ?? null,
    forget: () => all.clear(),
  }
}
