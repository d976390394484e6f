export type StopRequest = {
  /** Aborts at the first Ctrl-C, SIGTERM or SIGHUP. */
  readonly signal: AbortSignal
  /** Registers a listener for the second signal, which stops immediately instead of in order. */
  onSecond(listener: () => void): void
  dispose(): void
}

/** Converts SIGINT, SIGTERM and SIGHUP into one abort signal. */
export function createStopRequest(): StopRequest {
  const controller = new AbortController()
  const listeners = new Set<() => void>()
  const onSignal = () => {
    if (!controller.signal.aborted) return controller.abort(new Error('stopped by the user'))
    for (const listener of listeners) listener()
    process.exit(130)
  }
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  for (const name of signals) process.on(name, onSignal)
  return {
    signal: controller.signal,
    onSecond: (listener) => void listeners.add(listener),
    dispose() {
      for (const name of signals) process.off(name, onSignal)
    },
  }
}
