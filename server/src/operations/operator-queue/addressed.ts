import type { QueueItem, RespondBody } from '@roost/contracts/operations/operator-queue'
import { Fault } from '../../kit/fault.ts'
import type { Db } from '../../ports/database/port.ts'
import type { Answerer } from './answer.ts'
import { type ItemRow, operatorQueueStore } from './store.ts'

export type Addressed = {
  /** What agents ask this address, the newest first; of the agents that it may use. */
  asksOf(email: string, agentIds: readonly string[]): Promise<QueueItem[]>
  /** Throws `not_found` for what is not asked of this address about these agents, and what answering throws. */
  answer(
    by: Answerer & { email: string },
    agentIds: readonly string[],
    id: string,
    body: RespondBody,
  ): Promise<QueueItem>
}

const listed = 200

/** Items as they stand to people who are asked by their address, whether they have an account or not. */
export function createAddressed(deps: {
  db: Db
  answer(id: string, body: RespondBody, by: Answerer): Promise<ItemRow>
  shown(row: ItemRow): Promise<QueueItem>
}): Addressed {
  const { db, answer, shown } = deps
  return {
    async asksOf(email, agentIds) {
      const rows = await operatorQueueStore(db).asksOf(email, agentIds, { limit: listed })
      return Promise.all(rows.map(shown))
    },
    async answer(by, agentIds, id, body) {
      const row = await operatorQueueStore(db).byId(id)
      const isAsked = row?.addressed_to_email === by.email && agentIds.includes(row.agent_id ?? '')
      if (!isAsked) throw new Fault('not_found', 'There is no such item.')
      return shown(await answer(id, body, by))
    },
  }
}
