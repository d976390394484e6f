export type Mutex = {
  /** Resolves when the lock is held, in call order; call the result to release it. */
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
