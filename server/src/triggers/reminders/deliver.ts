import { createFollowUps } from '../../background/follow-ups.ts'
import { type Clock, secondsLater, timestamp } from '../../kit/clock.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import { type ExecutionRow, executionStore, type RunHooks } from '../../runs/executions/index.ts'
import { deliveryWaitSeconds } from './rules.ts'
import { reminderStore } from './store.ts'

/**
 * Adds the end of a run to a conversation as one message; the conversations area implements it. `busy`: a reply is
 * in progress, and `waits` allows waiting for it. `gone`: the conversation was deleted.
 */
export type DeliverResult = (
  tx: Tx,
  what: { sessionId: string; row: ExecutionRow; source: 'reminder'; waits: boolean },
) => Promise<'delivered' | 'busy' | 'gone'>

export type DeliverDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  log: Pick<Log, 'warn'>
  hooks: Pick<RunHooks, 'onEnded'>
  deliver: DeliverResult
}

const maxPerPass = 100

/** Delivers each result once to the conversation in which its reminder was set. */
export function createDeliver({ db, clock, log, hooks, deliver }: DeliverDeps) {
  const logFailure = (id: string, error: unknown) =>
    log.warn({ err: error, reminder_id: id }, 'the result of a reminder was not delivered; it is retried')
  const followUps = createFollowUps({
    failed: logFailure,
    look: (id) => db.atomically((tx) => attempt(tx, id)),
  })

  hooks.onEnded(async (tx, { reminder_id }, now) => {
    if (reminder_id === null) return
    const until = timestamp(secondsLater(now, deliveryWaitSeconds))
    if (!(await reminderStore(tx).awaitDelivery(reminder_id, until))) return
    tx.onCommitted(() => followUps.soon(reminder_id))
  })

  async function attempt(tx: Tx, id: string): Promise<void> {
    const store = reminderStore(tx)
    const reminder = await store.holdUndelivered(id)
    if (!reminder) return
    const { execution_id, origin_session_id: sessionId, deliver_until } = reminder
    const row = execution_id === null ? null : await executionStore(tx).byId(execution_id)
    if (row && sessionId !== null) {
      const waits = deliver_until !== null && timestamp(clock.now()) < deliver_until
      if ((await deliver(tx, { sessionId, row, source: 'reminder', waits })) === 'busy') return
    }
    await store.delivered(id)
  }

  return {
    /** Delivers results that waited for a reply, or that a killed process left. */
    async all(signal: AbortSignal): Promise<void> {
      for (const id of await reminderStore(db).undelivered(maxPerPass)) {
        if (signal.aborted) return
        await db.atomically((tx) => attempt(tx, id)).catch((error: unknown) => logFailure(id, error))
      }
    },
    settled: followUps.settled,
  }
}
