import { setImmediate as soon } from 'node:timers/promises'
import type { Clock } from '../kit/clock.ts'

/** A clock that stands still until it is moved. */
export type TestClock = Clock & {
  /** Moves forward and ends every wait that comes due on the way, earliest first. */
  advance(seconds: number): Promise<void>
  /** Jumps without ending waits, also backward. */
  set(time: string | Date): void
  /** Resolves when at least `count` waits are going on: what was started has come to rest. */
  waiting(count: number): Promise<void>
}

export function createTestClock(start = '2026-01-05T08:00:00.000Z'): TestClock {
  let time = new Date(start).getTime()
  const waits = new Set<{ dueAt: number; end: () => void }>()
  const counted = new Set<{ count: number; resolve: () => void }>()

  const tellCounted = () => {
    for (const asked of counted) {
      if (waits.size < asked.count) continue
      counted.delete(asked)
      asked.resolve()
    }
  }

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
      tellCounted()
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
    waiting(count) {
      return new Promise((resolve) => {
        counted.add({ count, resolve })
        tellCounted()
      })
    },
  }
}
