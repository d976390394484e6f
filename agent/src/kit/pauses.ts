import { setImmediate } from 'node:timers/promises'
import type { Clock } from './clock.ts'

const maxMs = 10

/** For long synchronous work. The returned function lets everything else run, if the last pause was 10 ms ago. */
export function createPauses(clock: Pick<Clock, 'elapsed'>): () => Promise<void> {
  let since = clock.elapsed()
  return async () => {
    if (clock.elapsed() - since < maxMs) return
    await setImmediate()
    since = clock.elapsed()
  }
}
