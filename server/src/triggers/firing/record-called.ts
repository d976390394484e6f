import { ClaimTaken } from '../../foundation/idempotency/index.ts'
import type { Clock } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import type { Tx } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import type { Entry } from '../../runs/dispatch/index.ts'
import { type CalledFire, type Choice, type Fired, firedOf } from './choice.ts'
import type { FireDeps } from './deps.ts'
import { startedEvent } from './events.ts'
import { recordSeconds } from './rules.ts'

type RecordCalledDeps = Pick<FireDeps, 'clock' | 'log' | 'events' | 'dispatch'>

/**
 * Records a fire by hand or webhook, or throws: `queue_full`, `circuit_open`, `scheduler_timeout`,
 * `scheduler_unavailable`. The database commits concurrent ones together.
 */
export function createRecordCalled(deps: RecordCalledDeps) {
  const { clock, events, dispatch } = deps
  const withTimeLimit = createTimeLimit(deps)

  return async function recordCalled(choice: Choice<CalledFire> & { entry: Entry }): Promise<Fired> {
    const { fire, entry } = choice
    const { schedule, executionId, keep } = fire
    // All of them take the caller's own locks first and then the agent's queue, so they may share a commit.
    const transaction = (work: (tx: Tx) => Promise<void>, lastly: () => void) =>
      dispatch.transaction(work, { kind: 'fire', about: schedule.agent_id, lastly })
    await withTimeLimit(transaction, async (tx) => {
      await keep?.(tx, executionId)
      if (entry.why) {
        await dispatch.recordSkipped(tx, entry.agent, entry.request, entry.why)
        return
      }
      const { row } = await dispatch.enqueue(tx, entry.agent, entry.request)
      await events.append(tx, startedEvent(row, schedule), clock.now())
    })
    return firedOf(choice)
  }
}

/**
 * Runs a transaction that a caller waits for; `transaction` calls `lastly` right before the commit. Throws
 * `scheduler_timeout` after 10 s and then never commits, so a repeated call fires once. Throws
 * `scheduler_unavailable` when the database fails. Other faults pass through.
 */
function createTimeLimit({ clock, log }: { clock: Pick<Clock, 'wait'>; log: Pick<Log, 'error'> }) {
  return async function withTimeLimit<T>(
    transaction: (work: (tx: Tx) => Promise<T>, lastly: () => void) => Promise<T>,
    work: (tx: Tx) => Promise<T>,
  ): Promise<T> {
    let isLate = false
    const done = new AbortController()
    const timeout = new Fault('scheduler_timeout')
    const timer = clock.wait(recordSeconds * 1000, done.signal).then(() => {
      if (done.signal.aborted) return new Promise<never>(() => {})
      isLate = true
      throw timeout
    })
    const refuseLate = () => {
      if (isLate) throw timeout
    }
    const recorded = transaction(work, refuseLate).catch((error: unknown) => {
      // Another call with the same idempotency key was first: its reply is replayed.
      if (error instanceof Fault || error instanceof ClaimTaken) throw error
      log.error({ err: error }, 'a fire could not be recorded')
      throw new Fault('scheduler_unavailable', undefined, {}, { cause: error })
    })
    try {
      return await Promise.race([recorded, timer])
    } finally {
      // An explicit reason avoids building an exception for each fire.
      done.abort(null)
      recorded.catch(() => {})
    }
  }
}
