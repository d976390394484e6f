/** Milliseconds of continuous writing, and the gap that follows for other processes. */
const maxBusyMs = 250
const gapMs = 15
/** Natural pauses of this length are found by polling processes and make gaps unnecessary. */
const pauseMs = 2

/**
 * Serializes this process's writes to a shared file. SQLite has no queue, so continuous writing would starve
 * other processes until they give up. This therefore leaves a gap from time to time.
 */
export function createWriteTurns() {
  const mutex = createMutex()
  let startedAt = 0
  let endedAt = 0

  return async function turn(): Promise<() => void> {
    const release = await mutex.lock()
    const now = performance.now()
    if (now - endedAt >= pauseMs) startedAt = now
    else if (now - startedAt > maxBusyMs) {
      await new Promise((resolve) => setTimeout(resolve, gapMs))
      startedAt = performance.now()
    }
    return () => {
      endedAt = performance.now()
      release()
    }
  }
}

type Mutex = {
  /** Resolves when the lock is held, in call order; call the result to release it. */
  lock(): Promise<() => void>
}

function createMutex(): Mutex {
  let tail: Promise<void> = Promise.resolve()
  return {
    async lock() {
      const before = tail
      const { promise, resolve } = Promise.withResolvers<void>()
      tail = promise
      await before
      return resolve
    },
  }
}
