import { createBatches } from '../../kit/batches.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import type { Db } from '../../ports/database/port.ts'
import { type Hold, queueStore } from '../executions/index.ts'
import { leaseFrom } from './lines.ts'

const maxPerStatement = 16

/**
 * Records that runtimes were spawned; false when the claim is void. Reports that arrive while a statement runs
 * share the next one, because a commit costs more than the statement. A statement has one run of each agent:
 * others lock several rows of one agent only, so two such statements never wait for each other.
 */
export function createSpawned({ db, clock }: { db: Db; clock: Pick<Clock, 'now'> }) {
  return createBatches<Hold, boolean>({
    maxItems: maxPerStatement,
    keyOf: ({ agentId }) => agentId,
    maxPerKey: 1,
    async run(entries) {
      const now = clock.now()
      const holds = entries.map(({ item }) => item)
      const marked = await queueStore(db).markSpawned(holds, timestamp(now), leaseFrom(now))
      for (const { item, resolve } of entries) resolve(marked.has(item.id))
    },
  })
}
