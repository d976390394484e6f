import { useQueryErrorResetBoundary } from '@tanstack/react-query'
import { useEffect } from 'react'
import { isPassing, mayReloadFor, untilAnswering } from '../lib/recovery.ts'
import { useLatest } from './use-latest.ts'

/**
 * Retries a failed part automatically once the platform responds, unless the error is permanent. Missing
 * application files cause one reload of the page. Returns the retry for a button.
 */
export function useRecovery(error: unknown, retry: () => void): () => void {
  const { reset } = useQueryErrorResetBoundary()
  const latest = useLatest(() => {
    // Without the reset a failed query is not fetched again by its component.
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
