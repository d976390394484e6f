import type { Query, QueryClient } from '@tanstack/react-query'
import { isPassing } from '../lib/recovery.ts'

/** Resolves when the platform responds; the delay grows with the number of failed rounds. */
export type UntilAnswering = (signal: AbortSignal, round: number) => Promise<void>

/**
 * Refetches shown queries that failed for network reasons as soon as the platform responds. Refusals stay.
 * Returns a function that stops it.
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
      // The next round retries what fails again.
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
