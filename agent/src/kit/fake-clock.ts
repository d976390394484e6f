import type { Clock } from './clock.ts'

/** A clock that only tests advance; due timers run in order of their time. */
export type FakeClock = Clock & { advance(ms: number): Promise<void>; pending(): number[] }

export function createFakeClock(random: () => number = () => 0.5): FakeClock {
  let now = Date.UTC(2030, 0, 1)
  const timers = new Set<{ at: number; act: () => void }>()
  return {
    now: () => now,
    elapsed: () => now,
    random,
    after(ms, act) {
      const timer = { at: now + ms, act }
      timers.add(timer)
      return () => timers.delete(timer)
    },
    async advance(ms) {
      const end = now + ms
      for (;;) {
        const due = [...timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0]
        if (!due) break
        timers.delete(due)
        now = Math.max(now, due.at)
        due.act()
        await settle()
      }
      now = end
      await settle()
    },
    pending: () => [...timers].map(({ at }) => at - now).sort((a, b) => a - b),
  }
}

/** Runs callbacks that are already due in the event loop. */
async function settle(): Promise<void> {
  for (let round = 0; round < 3; round += 1) await new Promise((done) => setImmediate(done))
}
