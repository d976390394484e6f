export type StopRequest = {
  /** Aborts at the first Ctrl-C, SIGTERM or SIGHUP. */
  readonly signal: AbortSignal
  /** Called at the second one: now, not in order. */
  onSecond(listener: () => void): void
  dispose(): void
}

/** Turns the signals of a terminal into a request that everything here can follow. */
export function createStopRequest(): StopRequest {
  const controller = new AbortController()
  const listeners = new Set<() => void>()
  const ask = () => {
    if (!controller.signal.aborted) return controller.abort(new Error('stopped by the user'))
    for (const listener of listeners) listener()
    process.exit(130)
  }
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  for (const name of signals) process.on(name, ask)
  return {
    signal: controller.signal,
    onSecond: (listener) => void listeners.add(listener),
    dispose() {
      for (const name of signals) process.off(name, ask)
    },
  }
}
