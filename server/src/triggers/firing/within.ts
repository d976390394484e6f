import type { Clock } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import type { Tx } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import { recordSeconds } from './rules.ts'

/**
 * Records what somebody waits for; `transaction` calls `lastly` right before it commits. Throws
 * `scheduler_timeout` when it takes longer than 10 s, and then keeps nothing, however late the database comes
 * back: who asks again fires once. Throws `scheduler_unavailable` when the store fails. A named refusal passes.
 */
export function createWithin({ clock, log }: { clock: Pick<Clock, 'wait'>; log: Pick<Log, 'error'> }) {
  return async function within<T>(
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
      if (error instanceof Fault) throw error
      log.error({ err: error }, 'a fire could not be recorded')
      throw new Fault('scheduler_unavailable', undefined, {}, { cause: error })
    })
    try {
      return await Promise.race([recorded, timer])
    } finally {
      // With a reason of its own: an exception would be built for each fire.
      done.abort(null)
      recorded.catch(() => {})
    }
  }
}
