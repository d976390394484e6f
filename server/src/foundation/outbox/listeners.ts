import type { Log } from '../../ports/log.ts'
import type { Listener, StoredEvent } from './event.ts'

export type Listeners = {
  on(type: string, listener: Listener): () => void
  /** Calls the listeners of the event's type; each gets its events in order and one at a time. */
  deliver(event: StoredEvent): void
  /** Resolves when the listeners have handled everything delivered so far. */
  settled(): Promise<void>
}

type Subscription = { type: string; listener: Listener; waiting: StoredEvent[]; busy: Promise<void> | null }

/** Number of waiting events from which a listener is logged as slow. */
const slowListenerQueue = 1_000

export function createListeners(log: Pick<Log, 'error' | 'warn'>): Listeners {
  const subscriptions = new Set<Subscription>()

  const failed = (event: StoredEvent, error: unknown) =>
    log.error({ event: event.type, position: event.position, err: error }, 'a listener failed')

  /** Calls a synchronous listener for all its events; the first promise makes the rest wait. */
  const drain = (subscription: Subscription): Promise<void> | null => {
    for (let event = subscription.waiting.shift(); event; event = subscription.waiting.shift()) {
      const current = event
      try {
        const pending = subscription.listener(current)
        if (pending) {
          return pending
            .catch((error: unknown) => failed(current, error))
            .then(() => {
              subscription.busy = drain(subscription)
              return subscription.busy ?? undefined
            })
        }
      } catch (error) {
        failed(current, error)
      }
    }
    return null
  }

  return {
    on(type, listener) {
      const subscription: Subscription = { type, listener, waiting: [], busy: null }
      subscriptions.add(subscription)
      return () => {
        subscriptions.delete(subscription)
        subscription.waiting.length = 0
      }
    },
    deliver(event) {
      for (const subscription of [...subscriptions]) {
        if (subscription.type !== '*' && subscription.type !== event.type) continue
        subscription.waiting.push(event)
        if (subscription.waiting.length === slowListenerQueue)
          log.warn({ event: event.type }, 'a listener is slow')
        subscription.busy ??= drain(subscription)
      }
    },
    async settled() {
      await Promise.all([...subscriptions].map((subscription) => subscription.busy))
    },
  }
}
