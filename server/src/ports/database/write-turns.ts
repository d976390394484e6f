import { createMutex } from './mutex.ts'

/** Milliseconds that a process writes without a pause, and how long it then leaves the file to others. */
const longestMs = 250
const gapMs = 15
/** Who looks again and again soon meets a pause of this length, if there are some: then none has to be made. */
const pauseMs = 2

/**
 * The turns of one process to write to a file that it shares. SQLite has no line of those who wait: whoever
 * writes without a pause would keep another process out until that gives up. So it makes one, now and then.
 */
export function createWriteTurns() {
  const mutex = createMutex()
  let began = 0
  let ended = 0

  return async function turn(): Promise<() => void> {
    const release = await mutex.lock()
    const now = performance.now()
    if (now - ended >= pauseMs) began = now
    else if (now - began > longestMs) {
      await new Promise((resolve) => setTimeout(resolve, gapMs))
      began = performance.now()
    }
    return () => {
      ended = performance.now()
      release()
    }
  }
}
