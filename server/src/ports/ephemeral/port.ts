/**
 * Short-lived shared state: counters, one-time values, locks, topics. Kept in this process (`memory:`) or in
 * Redis. Losing it at any time loses no work. Every failure is `EphemeralDown`, and each caller decides
 * whether it fails open or closed.
 */
export type Ephemeral = {
  readonly kind: 'memory' | 'redis'
  /** Increments a counter in a fixed window that starts with the first count. */
  count(key: string, windowSeconds: number): Promise<{ count: number; resetsInSeconds: number }>
  /** Returns the current count. */
  peek(key: string): Promise<number>
  put(key: string, value: string, ttlSeconds: number): Promise<void>
  /** Returns true only for the caller that set the value. */
  putIfAbsent(key: string, value: string, ttlSeconds: number): Promise<boolean>
  get(key: string): Promise<string | null>
  /** Reads and deletes atomically: only one caller gets the value. */
  take(key: string): Promise<string | null>
  remove(key: string): Promise<void>
  /** Sends the message once to every current listener in any process; waits for none. */
  publish(topic: string, message: string): Promise<void>
  /**
   * Calls `listener` for every message until `close`. After an interruption it resubscribes and calls
   * `onGap`, because messages may be missing. If the store is down, it subscribes later and then calls
   * `onGap`.
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
