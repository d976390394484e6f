/** Time and randomness are injected, so that tests control them instead of waiting. */
export type Clock = {
  /** Milliseconds since the epoch; jumps when the system clock is set. */
  now(): number
  /** Monotonic milliseconds, for time limits. */
  elapsed(): number
  /** Calls `act` once after `ms`; the returned function cancels it. */
  after(ms: number, act: () => void): () => void
  /** A random number from 0 (inclusive) to 1 (exclusive). */
  random(): number
}

/** The system's clock. Its timers keep the process alive. */
export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  after(ms, act) {
    const timer = setTimeout(act, ms)
    return () => clearTimeout(timer)
  },
  random: () => Math.random(),
}

/** ISO 8601 in UTC with milliseconds. */
export function timestamp(clock: Pick<Clock, 'now'>): string {
  return new Date(clock.now()).toISOString()
}
