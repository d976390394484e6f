export type Mutex = {
  /** Resolves when the lock is held, in the order of asking; call the result to let the next one in. */
  lock(): Promise<() => void>
}

export function createMutex(): Mutex {
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
