import { createFollowUps } from '../../background/follow-ups.ts'
import { type Clock, secondsLater, timestamp } from '../../kit/clock.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import { type ExecutionRow, executionStore, type RunHooks } from '../../runs/executions/index.ts'
import { deliveryWaitSeconds } from './rules.ts'
import { reminderStore } from './store.ts'

/**
 * Puts the end of a run into a conversation as one message; filled by the conversations, which stand to the
 * right. `busy`: a reply is in progress there, and `waits` says that it may be waited for. `gone`: there is no
 * such conversation any more.
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

const page = 100

/** Brings results to the conversations in which their reminders were set, each once. */
export function createDeliver({ db, clock, log, hooks, deliver }: DeliverDeps) {
  const tell = (id: string, error: unknown) =>
    log.warn({ err: error, reminder_id: id }, 'the result of a reminder was not delivered; it is tried again')
  const followUps = createFollowUps({ failed: tell, look: (id) => db.atomically((tx) => attempt(tx, id)) })

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
    /** What waits for a reply, and what a killed process left undone. */
    async all(signal: AbortSignal): Promise<void> {
      for (const id of await reminderStore(db).undelivered(page)) {
        if (signal.aborted) return
        await db.atomically((tx) => attempt(tx, id)).catch((error: unknown) => tell(id, error))
      }
    },
    settled: followUps.settled,
  }
}
