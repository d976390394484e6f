import type { QueryClient } from '@tanstack/react-query'
import type { QueryKey } from './stale.ts'

export type Refresh = {
  /** Marks the queries with these prefixes as stale. */
  stale(keys: readonly QueryKey[]): void
  /** Marks every query as stale. */
  staleAll(): void
  /** Postpones all refetches until `resume`. */
  pause(): void
  resume(): void
}

/** Events come in bursts: the queries they make stale are fetched once per burst. */
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
