import type { QueryClient } from '@tanstack/react-query'
import type { LiveLayer } from './start.ts'

const pollMs = 15_000

/**
 * Keeps queries current by polling while the page is visible, for guests, who receive no events. `close`
 * stops it.
 */
export function startPolling(queries: QueryClient): LiveLayer & { close(): void } {
  const refresh = () => {
    if (document.visibilityState === 'visible') void queries.invalidateQueries()
  }
  const timer = setInterval(refresh, pollMs)
  document.addEventListener('visibilitychange', refresh)
  return {
    state: () => 'paused',
    onState: () => () => {},
    onEvent: () => () => {},
    close() {
      clearInterval(timer)
      document.removeEventListener('visibilitychange', refresh)
    },
  }
}
