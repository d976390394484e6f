import { agentStore } from '../../agents/records/index.ts'
import type { Outbox } from '../../foundation/outbox/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { newId } from '../../kit/ids.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import { notPending } from './answer.ts'
import { itemAgent, itemEvent } from './events.ts'
import { inLockOrder } from './rules.ts'
import { type ItemRow, operatorQueueStore, type Scope } from './store.ts'

export type ResolveDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  events: Pick<Outbox, 'append'>
  settled(tx: Tx, row: ItemRow): void
}

type Reason = { reason: string | null; batchId?: string }

const maxExpiredPerPass = 200

/** Resolves items without an answer. */
export function createResolve({ db, clock, events, settled }: ResolveDeps) {
  async function end(
    tx: Tx,
    row: ItemRow,
    as: 'cancelled' | 'expired',
    { reason, batchId }: Reason,
  ): Promise<ItemRow | null> {
    const patch = {
      status: as,
      disposition: as,
      disposition_reason: reason,
      batch_id: batchId ?? null,
      pending_key: null,
    }
    if (!(await operatorQueueStore(tx).move(row.id, 'pending', patch))) return null
    const after = { ...row, ...patch }
    await events.append(tx, itemEvent(after, await itemAgent(tx, row.agent_id)), clock.now())
    settled(tx, after)
    return after
  }

  return {
    /** Runs in the caller's transaction. Null when the item is no longer pending. */
    cancelIn: (tx: Tx, row: ItemRow, reason: string | null) => end(tx, row, 'cancelled', { reason }),

    /** Throws `item_not_pending`. */
    async cancel(row: ItemRow, reason: string | null): Promise<ItemRow> {
      const after = await db.atomically((tx) => end(tx, row, 'cancelled', { reason }))
      if (after) return after
      throw notPending((await operatorQueueStore(db).byId(row.id)) ?? row)
    },

    /** Skips items outside the scope and resolved ones. */
    async cancelAll(scope: Scope, ids: readonly string[], reason: string | null) {
      const batch_id = newId()
      const cancelled = await db.atomically(async (tx) => {
        let count = 0
        for (const id of inLockOrder(ids)) {
          const row = await operatorQueueStore(tx).visible(scope, id)
          if (row && (await end(tx, row, 'cancelled', { reason, batchId: batch_id }))) count += 1
        }
        return count
      })
      return { cancelled, skipped: ids.length - cancelled, batch_id }
    },

    async clear(scope: Scope, agentId: string | undefined): Promise<number> {
      const now = clock.now()
      return db.atomically(async (tx) => {
        const count = await operatorQueueStore(tx).clearResolved(scope, agentId, timestamp(now))
        if (count === 0) return 0
        const agent = agentId === undefined ? null : await agentStore(tx).byId(agentId)
        const about = agent
          ? { agent_names: [agent.name], agent_ids: [agent.id] }
          : { agent_names: [], agent_ids: [] }
        // Names no item, so clients fetch their lists again.
        await events.append(tx, { type: 'operator_queue.cleared', ...about, fields: { count } }, now)
        return count
      })
    },

    /** An item without an answer in time counts as refused. */
    async expireDue(signal: AbortSignal): Promise<void> {
      const now = timestamp(clock.now())
      const due = await operatorQueueStore(db).due(now, maxExpiredPerPass)
      for (const row of due) {
        if (signal.aborted) return
        const reason = 'Nobody answered in time; that counts as refused.'
        await db.atomically((tx) => end(tx, row, 'expired', { reason }))
      }
    },
  }
}

export type Resolve = ReturnType<typeof createResolve>
