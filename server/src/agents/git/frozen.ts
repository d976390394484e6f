import { createCache } from '../../kit/cache.ts'
import type { Clock } from '../../kit/clock.ts'
import type { Db } from '../../ports/database/port.ts'
import { failuresThatCount } from './rules.ts'
import { gitStore } from './store.ts'

/** Agents whose schedules stand still because their syncs fail. */
export type Frozen = {
  /** Failed syncs in a row of an agent whose schedules they freeze; null: they may fire. */
  after(agentId: string): Promise<number | null>
  /** Something of it may have changed. */
  forget(): void
}

/** What another process has changed is seen after so long; fires that are due together ask once. */
const maxAgeSeconds = 2

export function createFrozen({ db, clock }: { db: Db; clock: Clock }): Frozen {
  const all = createCache<Map<string, number>>({
    clock,
    maxAgeSeconds,
    maxEntries: 1,
    load: async () => {
      const rows = await gitStore(db).frozen(failuresThatCount)
      return new Map(rows.map(({ agent_id, consecutive_failures }) => [agent_id, consecutive_failures]))
    },
  })
  return {
    after: async (agentId) => (await all.get('all'))?.get(agentId) ?? null,
    forget: () => all.clear(),
  }
}
