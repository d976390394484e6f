import { useQueryErrorResetBoundary } from '@tanstack/react-query'
import { useEffect } from 'react'
import { isPassing, mayReloadFor, untilAnswering } from '../lib/recovery.ts'
import { useLatest } from './use-latest.ts'

/**
 * For what stands in the place of a part that failed: `retry` is called without anybody's doing as soon as the
 * platform answers again, unless the failure would be the same. Files of the application that stay away are
 * fetched with the whole page, once. Returns the retry for a button.
 */
export function useRecovery(error: unknown, retry: () => void): () => void {
  const { reset } = useQueryErrorResetBoundary()
  const latest = useLatest(() => {
    // Else a query that has failed is not asked again by what shows it.
    reset()
    retry()
  })
  useEffect(() => {
    if (!isPassing(error)) return
    const stop = new AbortController()
    void untilAnswering(stop.signal).then(() => {
      if (stop.signal.aborted) return
      if (mayReloadFor(error, sessionStorage)) location.reload()
      else latest.current()
    })
    return () => stop.abort()
  }, [error, latest])
  return () => latest.current()
}
