/** The environment of a stream: visibility, time and randomness. */
export type StreamSetting = {
  isHidden(): boolean
  /** Resolves when the page is visible or the signal is aborted. */
  whenVisible(signal: AbortSignal): Promise<void>
  /** Aborted with `signal`, and when the page was hidden for the grace period. Disposing stops the watch. */
  untilHidden(signal: AbortSignal): Disposable & { signal: AbortSignal }
  /** Resolves after the delay, or when the signal is aborted. */
  wait(ms: number, signal: AbortSignal): Promise<void>
  /** From 0 up to, but excluding, 1. */
  random(): number
}

/**
 * Switching tabs for a moment keeps the stream and its partial answers. A tab hidden for longer holds no
 * connection.
 */
export const hiddenGraceMs = 20_000

export function browserSetting(page: Document = document): StreamSetting {
  const isHidden = () => page.visibilityState === 'hidden'

  function onChange(listener: () => void): () => void {
    page.addEventListener('visibilitychange', listener)
    return () => page.removeEventListener('visibilitychange', listener)
  }

  return {
    isHidden,
    random: Math.random,
    whenVisible: (signal) =>
      settled(signal, (resolve) => {
        if (!isHidden()) resolve()
        return onChange(() => {
          if (!isHidden()) resolve()
        })
      }),
    wait: (ms, signal) =>
      settled(signal, (resolve) => {
        const timer = setTimeout(resolve, ms)
        return () => clearTimeout(timer)
      }),
    untilHidden(signal) {
      const hidden = new AbortController()
      let timer: ReturnType<typeof setTimeout> | undefined
      const look = () => {
        clearTimeout(timer)
        if (isHidden()) timer = setTimeout(() => hidden.abort(), hiddenGraceMs)
      }
      const stop = onChange(look)
      look()
      return {
        signal: AbortSignal.any([signal, hidden.signal]),
        [Symbol.dispose]() {
          clearTimeout(timer)
          stop()
        },
      }
    },
  }
}

/** Resolves when `start` resolves or the signal is aborted, then runs the cleanup that `start` returned. */
function settled(signal: AbortSignal, start: (resolve: () => void) => () => void): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const stop = start(resolve)
  if (signal.aborted) resolve()
  signal.addEventListener('abort', () => resolve(), { once: true })
  return promise.finally(stop)
}
