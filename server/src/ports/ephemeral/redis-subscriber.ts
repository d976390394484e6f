import type { Redis } from 'ioredis'
import type { Log } from '../log.ts'
import type { Ephemeral } from './port.ts'

type Subscription = { listener: (message: string) => void; onGap?: (() => void) | undefined }

export type Subscriber = { subscribe: Ephemeral['subscribe']; close(): Promise<void> }

/** Interval of pings on a silent connection. */
const pingMs = 15_000

/**
 * Keeps topics subscribed on a connection that may be interrupted. Listeners that subscribed before or during
 * an interruption get `onGap` once the topic is subscribed again.
 */
export function createSubscriber(connection: Redis, log: Pick<Log, 'warn'>): Subscriber {
  const topics = new Map<string, Set<Subscription>>()

  const subscribeAll = async () => {
    for (const [topic, subscriptions] of [...topics]) {
      await connection.subscribe(topic)
      for (const subscription of subscriptions) runSafely(subscription.onGap, log)
    }
  }
  connection.on('ready', () => {
    subscribeAll().catch((error: unknown) => {
      log.warn({ err: error }, 'topics could not be subscribed')
      connection.disconnect(true)
    })
  })
  connection.on('message', (topic: string, message: string) => {
    for (const subscription of [...(topics.get(topic) ?? [])])
      runSafely(() => subscription.listener(message), log)
  })
  // Without pings this connection would not notice a silently lost server.
  const pinging = setInterval(() => {
    if (connection.status === 'ready') connection.ping().catch(() => connection.disconnect(true))
  }, pingMs)
  pinging.unref()

  return {
    async subscribe(topic, listener, onGap) {
      const subscription: Subscription = { listener, onGap }
      const subscriptions = topics.get(topic) ?? new Set()
      topics.set(topic, subscriptions.add(subscription))
      // If disconnected, `ready` subscribes the topic later and calls `onGap`.
      if (connection.status === 'ready') await connection.subscribe(topic).catch(() => {})
      return {
        async close() {
          subscriptions.delete(subscription)
          if (subscriptions.size > 0 || topics.get(topic) !== subscriptions) return
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

function runSafely(act: (() => void) | undefined, log: Pick<Log, 'warn'>): void {
  try {
    act?.()
  } catch (error) {
    log.warn({ err: error }, 'a listener of a topic failed')
  }
}
