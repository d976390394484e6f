import { setImmediate as soon } from 'node:timers/promises'
import type { Clock } from '../kit/clock.ts'

/** A clock that moves only when a test moves it. */
export type TestClock = Clock & {
  /** Moves forward and ends every wait that becomes due, earliest first. */
  advance(seconds: number): Promise<void>
  /** Jumps without ending waits, also backward. */
  set(time: string | Date): void
  /**
   * Resolves when `count` running waits end exactly `seconds` from now: the code under test has reached its wait.
   * Rejects after a minute of real time with the list of waits.
   */
  waitingFor(seconds: number, count?: number): Promise<void>
  /** Returns the seconds until each running wait ends, earliest first. */
  waits(): number[]
}

/** Real time after which a test fails, so that it still closes its resources. */
const timeoutMs = 60_000

export function createTestClock(start = '2026-01-05T08:00:00.000Z'): TestClock {
  let time = new Date(start).getTime()
  const waits = new Set<{ dueAt: number; end: () => void }>()
  const watchers = new Set<() => void>()
  const secondsLeft = () => [...waits].map(({ dueAt }) => (dueAt - time) / 1000).toSorted((a, b) => a - b)

  function wait(ms: number, signal?: AbortSignal): Promise<void> {
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
    for (const check of watchers) check()
    return promise
  }

  return {
    now: () => new Date(time),
    wait,
    waitAbout: wait,
    async advance(seconds) {
      const target = time + seconds * 1000
      for (;;) {
        const [next] = [...waits].filter(({ dueAt }) => dueAt <= target).toSorted((a, b) => a.dueAt - b.dueAt)
        if (!next) break
        time = Math.max(time, next.dueAt)
        next.end()
        // The ended wait may lead to another wait before the clock moves on.
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
      const check = () => {
        if ([...waits].filter((wait) => Math.round(wait.dueAt) === dueAt).length >= count) resolve()
      }
      const timeout = setTimeout(() => {
        const expected = `${count === 1 ? 'a wait' : `${count} waits`} of ${seconds} s`
        reject(new Error(`There was never ${expected}. Running waits end in: ${secondsLeft().join(', ')} s.`))
      }, timeoutMs)
      // A process that no longer awaits this may exit.
      timeout.unref()
      watchers.add(check)
      check()
      return promise.finally(() => {
        clearTimeout(timeout)
        watchers.delete(check)
      })
    },
    waits: secondsLeft,
  }
}
