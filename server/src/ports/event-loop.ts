import type { Histogram } from '../kit/meters.ts'

/** With a shorter interval, an idle process would wake mostly for this. */
const sampleEveryMs = 1000

/** Measures how late a timer fires: the time in which this process answered nobody. Returns a function that stops it. */
export function watchEventLoop(delay: Pick<Histogram, 'observe'>): () => void {
  let dueAt = performance.now() + sampleEveryMs
  const timer = setInterval(() => {
    const now = performance.now()
    delay.observe([], Math.max(0, now - dueAt) / 1000)
    dueAt = now + sampleEveryMs
  }, sampleEveryMs)
  timer.unref()
  return () => clearInterval(timer)
}
