import type { Query, QueryClient } from '@tanstack/react-query'
import { isPassing } from '../lib/recovery.ts'

/** Resolves when the platform answers again; later with each round that was of no use, 0 for the first. */
export type UntilAnswering = (signal: AbortSignal, round: number) => Promise<void>

/**
 * Asks again what is shown and could not be fetched because the way to the platform was broken, as soon as the
 * platform answers. Refusals stay. Returns what ends it.
 */
export function startHealing(queries: QueryClient, untilAnswering: UntilAnswering): () => void {
  const cache = queries.getQueryCache()
  const stop = new AbortController()
  const isAnyBroken = () => cache.getAll().some(isBroken)
  let isHealing = false

  async function heal(): Promise<void> {
    for (let round = 0; isAnyBroken(); round += 1) {
      await untilAnswering(stop.signal, round)
      if (stop.signal.aborted) return
      // What fails again is seen by the next round.
      await queries.refetchQueries({ predicate: isBroken }, { throwOnError: false })
    }
  }

  const unsubscribe = cache.subscribe(({ type, query }) => {
    if (type !== 'updated' || isHealing || !isBroken(query)) return
    isHealing = true
    void heal().finally(() => {
      isHealing = false
    })
  })
  return () => {
    stop.abort()
    unsubscribe()
  }
}

function isBroken(query: Query): boolean {
  return query.state.status === 'error' && query.isActive() && isPassing(query.state.error)
}
