import type { Redis } from 'ioredis'
import type { Log } from '../log.ts'
import type { Ephemeral } from './port.ts'

type Hearer = { listener: (message: string) => void; onGap?: (() => void) | undefined }

export type Subscriber = { subscribe: Ephemeral['subscribe']; close(): Promise<void> }

/** How long a connection that says nothing is believed to be alive. */
const pingMs = 15_000

/**
 * Keeps the wanted topics subscribed on a connection that may come and go. Who subscribed before an
 * interruption, or while there was none, hears `onGap` once the topic is subscribed.
 */
export function createSubscriber(connection: Redis, log: Pick<Log, 'warn'>): Subscriber {
  const topics = new Map<string, Set<Hearer>>()

  const subscribeAll = async () => {
    for (const [topic, hearers] of [...topics]) {
      await connection.subscribe(topic)
      for (const hearer of hearers) tell(hearer.onGap, log)
    }
  }
  connection.on('ready', () => {
    subscribeAll().catch((error: unknown) => {
      log.warn({ err: error }, 'topics could not be subscribed')
      connection.disconnect(true)
    })
  })
  connection.on('message', (topic: string, message: string) => {
    for (const hearer of [...(topics.get(topic) ?? [])]) tell(() => hearer.listener(message), log)
  })
  // Without commands of its own this connection would not notice a server that went away silently.
  const pinging = setInterval(() => {
    if (connection.status === 'ready') connection.ping().catch(() => connection.disconnect(true))
  }, pingMs)
  pinging.unref()

  return {
    async subscribe(topic, listener, onGap) {
      const hearer: Hearer = { listener, onGap }
      const hearers = topics.get(topic) ?? new Set()
      topics.set(topic, hearers.add(hearer))
      // Away: `ready` subscribes it and calls `onGap`.
      if (connection.status === 'ready') await connection.subscribe(topic).catch(() => {})
      return {
        async close() {
          hearers.delete(hearer)
          if (hearers.size > 0 || topics.get(topic) !== hearers) return
          topics.delete(topic)
          if (connection.status === 'ready') await connection.unsubscribe(topic).catch(() => {})
        },
      }
    },
    async close() {
      clearInterval(pinging)
      topics.clear()
      connection.disconnect()
    },
  }
}

function tell(act: (() => void) | undefined, log: Pick<Log, 'warn'>): void {
  try {
    act?.()
  } catch (error) {
    log.warn({ err: error }, 'a listener of a topic failed')
  }
}
