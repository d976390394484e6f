/**
 * Short-lived shared state: counters, one-time values, locks, topics. In this process (`memory:`) or in
 * Redis. Whatever is kept here may be lost at any time without losing work. Every failure is
 * `EphemeralDown`, and each caller decides on purpose whether it fails open or closed.
 */
export type Ephemeral = {
  readonly kind: 'memory' | 'redis'
  /** Adds one in a fixed window; the window starts with its first count. */
  count(key: string, windowSeconds: number): Promise<{ count: number; resetsInSeconds: number }>
  /** The present count without adding. */
  peek(key: string): Promise<number>
  put(key: string, value: string, ttlSeconds: number): Promise<void>
  /** True for the one caller that made it. */
  putIfAbsent(key: string, value: string, ttlSeconds: number): Promise<boolean>
  get(key: string): Promise<string | null>
  /** Reads and removes in one step: of several takers one gets the value. */
  take(key: string): Promise<string | null>
  remove(key: string): Promise<void>
  /** Everybody who listens now, in this process or another, gets the message once; nobody is waited for. */
  publish(topic: string, message: string): Promise<void>
  /**
   * Calls `listener` for every message until `close`. After an interruption of the store it resubscribes by
   * itself and calls `onGap`: messages may be missing, look again. While the store is away it is remembered
   * and subscribed later, with `onGap`.
   */
  subscribe(
    topic: string,
    listener: (message: string) => void,
    onGap?: () => void,
  ): Promise<{ close(): Promise<void> }>
  ping(): Promise<void>
  close(): Promise<void>
}

export class EphemeralDown extends Error {
  constructor(message = 'The store for short-lived data cannot be reached.', options?: { cause?: unknown }) {
    super(message, options)
    this.name = 'EphemeralDown'
  }
}
