import { tickMs, untilTick, wideTickMs } from '../kit/clock.ts'
import type { Histogram } from '../kit/meters.ts'

/** Below this share of its time the process is idle. */
const idleShare = 0.05

/**
 * Measures how late a timer fires: the time in which this process answered nobody. Returns a function that stops it.
 * It fires at the ticks of periodic work, and less often in an idle process, so that such a process does not wake for
 * this alone.
 */
export function watchEventLoop(delay: Pick<Histogram, 'observe'>): () => void {
  let used = performance.eventLoopUtilization()
  let dueAt = 0
  let timer: NodeJS.Timeout | undefined
  const next = (stepMs: number) => {
    const ms = untilTick(stepMs)
    dueAt = performance.now() + ms
    timer = setTimeout(sample, ms)
    timer.unref()
  }
  const sample = () => {
    delay.observe([], Math.max(0, performance.now() - dueAt) / 1000)
    const { utilization } = performance.eventLoopUtilization(used)
    used = performance.eventLoopUtilization()
    next(utilization < idleShare ? wideTickMs : tickMs)
  }
  next(tickMs)
  return () => clearTimeout(timer)
}
