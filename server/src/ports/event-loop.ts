import { tickMs } from '../kit/clock.ts'
import type { Histogram } from '../kit/meters.ts'

/**
 * Measures how late a timer fires: the time in which this process answered nobody. Returns a function that stops it.
 * It fires at the ticks of periodic work, so that an idle process does not wake for this alone.
 */
export function watchEventLoop(delay: Pick<Histogram, 'observe'>): () => void {
  let dueAt = 0
  let timer: NodeJS.Timeout | undefined
  const next = () => {
    const now = performance.now()
    dueAt = (Math.floor(now / tickMs) + 1) * tickMs
    timer = setTimeout(sample, dueAt - now)
    timer.unref()
  }
  const sample = () => {
    delay.observe([], Math.max(0, performance.now() - dueAt) / 1000)
    next()
  }
  next()
  return () => clearTimeout(timer)
}
