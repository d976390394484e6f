import { setImmediate as soon } from 'node:timers/promises'
import type { Clock } from '../kit/clock.ts'

/** A clock that stands still until it is moved. */
export type TestClock = Clock & {
  /** Moves forward and ends every wait that comes due on the way, earliest first. */
  advance(seconds: number): Promise<void>
  /** Jumps without ending waits, also backward. */
  set(time: string | Date): void
  /**
   * Resolves when `count` waits are going on that end exactly so many seconds from now: what was started has come to
   * the wait that a test means, however long that took, and whatever else waits. Rejects after a minute, by the real
   * clock, with the waits that there are.
   */
  waitingFor(seconds: number, count?: number): Promise<void>
  /** In how many seconds each wait ends that is going on, earliest first. */
  waits(): number[]
}

/** By the real clock: a test that waits in vain fails, and closes what it has opened. */
const patienceMs = 60_000

export function createTestClock(start = '2026-01-05T08:00:00.000Z'): TestClock {
  let time = new Date(start).getTime()
  const waits = new Set<{ dueAt: number; end: () => void }>()
  const watchers = new Set<() => void>()
  const secondsLeft = () => [...waits].map(({ dueAt }) => (dueAt - time) / 1000).toSorted((a, b) => a - b)

  return {
    now: () => new Date(time),
    wait(ms, signal) {
      const { promise, resolve } = Promise.withResolvers<void>()
      if (signal?.aborted) return Promise.resolve()
      const wait = { dueAt: time + ms, end: () => {} }
      wait.end = () => {
        waits.delete(wait)
        signal?.removeEventListener('abort', wait.end)
        resolve()
      }
      signal?.addEventListener('abort', wait.end, { once: true })
      waits.add(wait)
      for (const look of watchers) look()
      return promise
    },
    async advance(seconds) {
      const target = time + seconds * 1000
      for (;;) {
        const [next] = [...waits].filter(({ dueAt }) => dueAt <= target).toSorted((a, b) => a.dueAt - b.dueAt)
        if (!next) break
        time = Math.max(time, next.dueAt)
        next.end()
        // What was waiting may act and wait again before the clock goes on.
        await soon()
      }
      time = target
    },
    set(value) {
      time = new Date(value).getTime()
    },
    waitingFor(seconds, count = 1) {
      const dueAt = Math.round(time + seconds * 1000)
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      const look = () => {
        if ([...waits].filter((wait) => Math.round(wait.dueAt) === dueAt).length >= count) resolve()
      }
      const tooLong = setTimeout(() => {
        const meant = `${count === 1 ? 'a wait' : `${count} waits`} of ${seconds} s`
        reject(new Error(`There never was ${meant}. What waits ends in: ${secondsLeft().join(', ')} s.`))
      }, patienceMs)
      // Who does not await it any more, because something else came first, may end.
      tooLong.unref()
      watchers.add(look)
      look()
      return promise.finally(() => {
        clearTimeout(tooLong)
        watchers.delete(look)
      })
    },
    waits: secondsLeft,
  }
}
