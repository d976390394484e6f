import { createTurns } from '../../kit/turns.ts'
import type { Log } from '../../ports/log.ts'

/** Work that goes on after the answer. */
export type Outgoing = {
  /** What is too much to wait for is dropped: whoever misses a mail asks again. */
  start(work: () => Promise<void>): void
  /** Resolves when all that was started has ended. */
  settled(): Promise<void>
}

const atOnce = 4
const mostWaiting = 500

export function createOutgoing(log: Pick<Log, 'warn'>): Outgoing {
  const inTurn = createTurns(atOnce)
  const going = new Set<Promise<void>>()
  return {
    start(work) {
      if (going.size >= mostWaiting) return log.warn({ waiting: going.size }, 'a sign-in mail was dropped')
      const task = inTurn(work)
        .catch((error: unknown) => log.warn({ err: error }, 'a sign-in mail could not be sent'))
        .finally(() => going.delete(task))
      going.add(task)
    },
    async settled() {
      while (going.size > 0) await Promise.all(going)
    },
  }
}
