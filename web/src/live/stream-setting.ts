/** What a stream asks of the world around it: whether somebody looks, time and chance. */
export type StreamSetting = {
  isHidden(): boolean
  /** Resolves when the page is looked at, or the signal is aborted. */
  whenVisible(signal: AbortSignal): Promise<void>
  /** Aborted with `signal`, and when the page has been hidden for a while. Disposing stops the watch. */
  untilHidden(signal: AbortSignal): Disposable & { signal: AbortSignal }
  /** Resolves after the time, or when the signal is aborted. */
  wait(ms: number, signal: AbortSignal): Promise<void>
  /** At least 0, below 1. */
  random(): number
}

/**
 * A look into another tab and back should not cost the pieces of an answer that come meanwhile; a tab that is
 * left alone for longer holds no connection.
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

/** Resolves when `start` says so or the signal is aborted, and then undoes what `start` began. */
function settled(signal: AbortSignal, start: (resolve: () => void) => () => void): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const stop = start(resolve)
  if (signal.aborted) resolve()
  signal.addEventListener('abort', () => resolve(), { once: true })
  return promise.finally(stop)
}
