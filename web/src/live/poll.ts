import type { QueryClient } from '@tanstack/react-query'
import type { LiveLayer } from './start.ts'

/** How often what is shown is asked for again. */
const pollMs = 15_000

/**
 * Keeps queries true for somebody to whom no events are sent: by asking again while the page is seen. `close`
 * ends it.
 */
export function startPolling(queries: QueryClient): LiveLayer & { close(): void } {
  const ask = () => {
    if (document.visibilityState === 'visible') void queries.invalidateQueries()
  }
  const timer = setInterval(ask, pollMs)
  document.addEventListener('visibilitychange', ask)
  return {
    state: () => 'paused',
    onState: () => () => {},
    onEvent: () => () => {},
    close() {
      clearInterval(timer)
      document.removeEventListener('visibilitychange', ask)
    },
  }
}
