import type { Clock } from '../../kit/clock.ts'
import type { Db } from '../../ports/database/port.ts'
import type { Live } from '../transcripts/index.ts'
import { fanOutStore } from './store.ts'

/** A notice may be lost: whoever waits looks by itself this often. */
const lookAgainSeconds = 5

/** How waiting ended: every task has, the time was over, or the client went away or the platform stops. */
export type Waited = 'ended' | 'deadline' | 'given_up'

export function createWait(deps: { db: Db; clock: Clock; live: Pick<Live, 'listen'> }) {
  const { db, clock, live } = deps
  return async function wait(id: string, seconds: number, signal: AbortSignal): Promise<Waited> {
    const over = new AbortController()
    const until = AbortSignal.any([signal, over.signal])
    const deadline = clock.wait(seconds * 1000, until).then(() => over.abort())
    let news = Promise.withResolvers<void>()
    const stop = live.listen(id, { changed: () => news.resolve() })
    try {
      for (;;) {
        // Renewed before the look: what comes during it is not missed.
        news = Promise.withResolvers<void>()
        if (!(await fanOutStore(db).hasOpenTasks(id))) return 'ended'
        if (until.aborted) return signal.aborted ? 'given_up' : 'deadline'
        const heard = new AbortController()
        const quiet = clock.wait(lookAgainSeconds * 1000, AbortSignal.any([until, heard.signal]))
        await Promise.race([news.promise, quiet])
        heard.abort()
      }
    } finally {
      stop()
      over.abort()
      await deadline
    }
  }
}
