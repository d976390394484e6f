/** Time and chance as they are handed in, so that a test moves them instead of waiting. */
export type Clock = {
  /** Milliseconds since the epoch; jumps when the machine's clock is set. */
  now(): number
  /** Milliseconds that have passed; for limits, which a clock that is set must not end. */
  elapsed(): number
  /** Calls `act` once after `ms`; the returned function takes it back. */
  after(ms: number, act: () => void): () => void
  /** A number from 0 (included) to 1 (excluded). */
  random(): number
}

/** The real thing. Timers keep the process alive only where something else does, such as a socket. */
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
