/** Holds answers by key until the key is released; a released key stays released. */
export type Holds = {
  release(key: string): void
  /** Resolves when the key is released; rejects with the signal's reason when the client disconnects. */
  until(key: string, signal: AbortSignal): Promise<void>
}

export function createHolds(): Holds {
  const gates = new Map<string, PromiseWithResolvers<void>>()
  function gateOf(key: string): PromiseWithResolvers<void> {
    const gate = gates.get(key) ?? Promise.withResolvers<void>()
    gates.set(key, gate)
    return gate
  }
  return {
    release: (key) => gateOf(key).resolve(),
    async until(key, signal) {
      const aborted = Promise.withResolvers<never>()
      const onAbort = () => aborted.reject(signal.reason)
      signal.addEventListener('abort', onAbort, { once: true })
      try {
        signal.throwIfAborted()
        await Promise.race([gateOf(key).promise, aborted.promise])
      } finally {
        signal.removeEventListener('abort', onAbort)
      }
    },
  }
}
