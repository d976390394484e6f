import type { Db } from '../../ports/database/port.ts'
import type { AttemptSpending } from '../spend-caps/index.ts'
import { attemptStore } from './store.ts'

/** The caps of attempts: a set has one for all its forks, and a fork spends what its source may spend. */
export function createAttemptSpending({ db }: { db: Db }): AttemptSpending {
  const store = attemptStore(db)
  return {
    async ofFork(agentId) {
      const set = await store.setOfFork(agentId)
      if (!set) return null
      return {
        sourceId: set.agent_id,
        maxMicros: set.max_cost_micros,
        spentMicros: await store.spent(set.id),
      }
    },
    ofSource: (sourceId) => store.openSpent(sourceId),
  }
}
