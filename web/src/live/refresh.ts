import type { QueryClient } from '@tanstack/react-query'
import type { QueryKey } from './stale.ts'

export type Refresh = {
  /** Queries with this prefix are out of date. */
  stale(keys: readonly QueryKey[]): void
  /** Everything is. */
  staleAll(): void
  /** Fetches nothing until `resume`; what was marked meanwhile is fetched then. */
  pause(): void
  resume(): void
}

/** Events come in bursts: what they make stale is fetched once for all of them. */
const gatherMs = 250

export function createRefresh(queries: QueryClient): Refresh {
  const waiting = new Map<string, QueryKey>()
  let timer: ReturnType<typeof setTimeout> | null = null
  let isPaused = false

  function flush(): void {
    timer = null
    if (isPaused) return
    const keys = [...waiting.values()]
    waiting.clear()
    for (const queryKey of keys) void queries.invalidateQueries({ queryKey })
  }
  function plan(): void {
    if (timer === null && !isPaused && waiting.size > 0) timer = setTimeout(flush, gatherMs)
  }

  return {
    stale(keys) {
      for (const key of keys) waiting.set(JSON.stringify(key), key)
      plan()
    },
    staleAll() {
      waiting.clear()
      waiting.set('[]', [])
      plan()
    },
    pause() {
      isPaused = true
    },
    resume() {
      isPaused = false
      plan()
    },
  }
}
