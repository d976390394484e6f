/** Time is injected, so that tests can control it. */
export type Clock = {
  now(): Date
  /** Resolves after `ms`, or immediately and without an error when the signal aborts. */
  wait(ms: number, signal?: AbortSignal): Promise<void>
  /**
   * Like `wait`, but ends at a tick that the waits of this process share: up to half a second early or late, and from
   * four seconds on up to four seconds early or one late. For periodic work: waking an idle process costs more than the
   * work itself.
   */
  waitAbout(ms: number, signal?: AbortSignal): Promise<void>
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
  waitAbout: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve()
      const now = performance.now()
      const [step, lateMs] = ms < wideFromMs ? [tickMs, tickMs / 2] : [wideTickMs, tickMs]
      // The next tick at least: with the current one, a loop of short waits would never pause.
      const number = Math.max(Math.floor((now + ms + lateMs) / step), Math.floor((now + earlyMs) / step) + 1)
      const endsAt = number * step
      const tick = ticks.get(endsAt) ?? startTick(endsAt, endsAt - now)
      const done = () => {
        tick.waiting.delete(done)
        if (tick.waiting.size === 0) endTick(endsAt, tick)
        signal?.removeEventListener('abort', done)
        resolve()
      }
      tick.waiting.add(done)
      signal?.addEventListener('abort', done, { once: true })
    }),
}

type Tick = { waiting: Set<() => void>; timer: NodeJS.Timeout }

/** Ticks count from the start of the process, so those of several processes rarely coincide. */
export const tickMs = 1000
/** Waits of about this length or longer end at fewer ticks, so that an idle process wakes only for these. */
const wideTickMs = 5 * tickMs
const wideFromMs = 4 * tickMs
/** A timer may fire a little before its time. */
const earlyMs = 20
/** By their time, in milliseconds since the start of the process. */
const ticks = new Map<number, Tick>()

function startTick(endsAt: number, ms: number): Tick {
  const waiting = new Set<() => void>()
  const end = () => {
    for (const done of [...waiting]) done()
  }
  const tick = { waiting, timer: setTimeout(end, ms) }
  ticks.set(endsAt, tick)
  return tick
}

function endTick(endsAt: number, { timer }: Tick): void {
  clearTimeout(timer)
  ticks.delete(endsAt)
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
