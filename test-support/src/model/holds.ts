/** Answers that wait until somebody lets them go, by key; one let go stays so. */
export type Holds = {
  release(key: string): void
  /** Resolves once the key is let go; rejects with the signal's reason when the client has gone away. */
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
      const gone = Promise.withResolvers<never>()
      const leave = () => gone.reject(signal.reason)
      signal.addEventListener('abort', leave, { once: true })
      try {
        signal.throwIfAborted()
        await Promise.race([gateOf(key).promise, gone.promise])
      } finally {
        signal.removeEventListener('abort', leave)
      }
    },
  }
}
