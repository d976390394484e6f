/** Time is handed in, so that a test can set it. */
export type Clock = {
  now(): Date
  /** Resolves after `ms` or when the signal aborts (then at once, without an error). */
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

/** As times are stored and answered: UTC, milliseconds, `Z`, fixed width (so text order is time order). */
export function timestamp(date: Date): string {
  return date.toISOString()
}

export function secondsLater(date: Date, seconds: number): Date {
  return new Date(date.getTime() + seconds * 1000)
}
