import type { Log } from '../../ports/log.ts'
import type { Listener, StoredEvent } from './event.ts'

export type Listeners = {
  on(type: string, listener: Listener): () => void
  /** Calls everybody who listens; each hears its events in order and one at a time. */
  tell(event: StoredEvent): void
  /** Resolves when everything told so far was heard. */
  settled(): Promise<void>
}

type Hearing = { type: string; listener: Listener; waiting: StoredEvent[]; busy: Promise<void> | null }

/** So many events behind, a listener is too slow for what it does. */
const slowAt = 1_000

export function createListeners(log: Pick<Log, 'error' | 'warn'>): Listeners {
  const hearings = new Set<Hearing>()

  const failed = (event: StoredEvent, error: unknown) =>
    log.error({ event: event.type, position: event.position, err: error }, 'a listener failed')

  /** Calls at once while the listener answers at once; the first promise makes the rest wait. */
  const hear = (hearing: Hearing): Promise<void> | null => {
    for (let event = hearing.waiting.shift(); event; event = hearing.waiting.shift()) {
      const told = event
      try {
        const answer = hearing.listener(told)
        if (answer) {
          return answer
            .catch((error: unknown) => failed(told, error))
            .then(() => {
              hearing.busy = hear(hearing)
              return hearing.busy ?? undefined
            })
        }
      } catch (error) {
        failed(told, error)
      }
    }
    return null
  }

  return {
    on(type, listener) {
      const hearing: Hearing = { type, listener, waiting: [], busy: null }
      hearings.add(hearing)
      return () => {
        hearings.delete(hearing)
        hearing.waiting.length = 0
      }
    },
    tell(event) {
      for (const hearing of [...hearings]) {
        if (hearing.type !== '*' && hearing.type !== event.type) continue
        hearing.waiting.push(event)
        if (hearing.waiting.length === slowAt) log.warn({ event: event.type }, 'a listener is slow')
        hearing.busy ??= hear(hearing)
      }
    },
    async settled() {
      await Promise.all([...hearings].map((hearing) => hearing.busy))
    },
  }
}
