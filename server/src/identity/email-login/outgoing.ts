import { createTurns } from '../../kit/turns.ts'
import type { Log } from '../../ports/log.ts'

/** Work that continues after the response. */
export type Outgoing = {
  /** Drops work above the limit. A user without mail can request it again. */
  start(work: () => Promise<void>): void
  /** Resolves when all started work has ended. */
  settled(): Promise<void>
}

const maxConcurrent = 4
const maxPending = 500

export function createOutgoing(log: Pick<Log, 'warn'>): Outgoing {
  const inTurn = createTurns(maxConcurrent)
  const pending = new Set<Promise<void>>()
  return {
    start(work) {
      if (pending.size >= maxPending) return log.warn({ waiting: pending.size }, 'a sign-in mail was dropped')
      const task = inTurn(work)
        .catch((error: unknown) => log.warn({ err: error }, 'a sign-in mail could not be sent'))
        .finally(() => pending.delete(task))
      pending.add(task)
    },
    async settled() {
      while (pending.size > 0) await Promise.all(pending)
    },
  }
}
