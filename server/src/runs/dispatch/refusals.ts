import type { RunContext } from '../../agents/run-context/index.ts'
import type { Outbox } from '../../foundation/outbox/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { isFault } from '../../kit/fault.ts'
import { newId } from '../../kit/ids.ts'
import type { Db, Shared, Tx } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import {
  createdEvent,
  type ExecutionRow,
  executionStore,
  finishedEvent,
  queueStore,
} from '../executions/index.ts'
import type { RunRequest } from './request.ts'
import { rowOf } from './row.ts'

export type RefusalsDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  events: Pick<Outbox, 'append'>
  log: Pick<Log, 'error'>
}

type Refused = { agent: RunContext; request: RunRequest }

export type Refusals = {
  /**
   * Transaction that accepts runs. When the breaker refuses one, everything is rolled back, and a failed run
   * with the reason is recorded separately. With `shared`, about one agent, it may share its commit as in
   * `Db.atomicallyShared`.
   */
  transaction<T>(work: (tx: Tx) => Promise<T>, shared?: Shared): Promise<T>
  /** Remembers the request that the breaker refuses when `ask` throws `circuit_open`. */
  of<T>(refused: Refused, ask: () => Promise<T>): Promise<T>
}

export function createRefusals({ db, clock, events, log }: RefusalsDeps): Refusals {
  const refusedBy = new WeakMap<object, Refused>()

  /** Records the refused run as final: it was never queued, and hooks on the ends of runs ignore it. */
  async function record(refused: Refused): Promise<void> {
    const now = clock.now()
    await db.atomically(async (tx) => {
      const number = await queueStore(tx).lockQueue(refused.agent.id)
      const row = refusedRow(refused, { number, now })
      await executionStore(tx).insert(row)
      await events.append(tx, createdEvent(row), now)
      await events.append(tx, finishedEvent(row), now)
    })
  }

  return {
    async transaction(work, shared) {
      try {
        return await (shared ? db.atomicallyShared(shared, work) : db.atomically(work))
      } catch (error) {
        const refused = isFault(error, 'circuit_open') && refusedBy.get(error)
        if (refused) {
          // The caller gets the reason in any case.
          await record(refused).catch((fault: unknown) =>
            log.error({ agent: refused.agent.name, err: fault }, 'a refused run left no record'),
          )
        }
        throw error
      }
    },

    async of(refused, ask) {
      try {
        return await ask()
      } catch (error) {
        if (isFault(error, 'circuit_open')) refusedBy.set(error, refused)
        throw error
      }
    },
  }
}

/**
 * Has no links to rows that were rolled back: no fan-out, no loop, and no conversation, which may have been
 * created by this request and lacks its message.
 */
function refusedRow({ agent, request }: Refused, at: { number: number; now: Date }): ExecutionRow {
  const { fanOutId: _, fanOutTaskId: __, loopId: ___, ...links } = request.links ?? {}
  const unlinked = { ...request, links, sessionId: null }
  const place = { id: newId(), bounded: false, held: true, chain_depth: 0, ...at }
  return {
    ...rowOf(agent, unlinked, place),
    status: 'failed',
    completed_at: timestamp(at.now),
    error: 'The circuit breaker of the agent was open: its provider refuses the credentials.',
    error_code: 'circuit_open',
  }
}
