/** Time is injected, so that tests can control it. */
export type Clock = {
  now(): Date
  /** Resolves after `ms`, or immediately and without an error when the signal aborts. */
  wait(ms: number, signal?: AbortSignal): Promise<void>
}

export const systemClock: Clock = {
  now: () => new Date(),
  wait: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve()
      const done = () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', done)
        resolve()
      }
      const timer = setTimeout(done, ms)
      signal?.addEventListener('abort', done, { once: true })
    }),
}

/** Reason for `abort` at the end of a wait. Without one, each call creates an exception with a stack trace. */
export const waitEnded = 'ended'

/** Resolves when the signal aborts. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

/** The stored time format: UTC, milliseconds, `Z`, fixed width, so that text order is time order. */
export function timestamp(date: Date): string {
  return date.toISOString()
}

export function secondsLater(date: Date, seconds: number): Date {
  return new Date(date.getTime() + seconds * 1000)
}
