import { useRef } from 'react'
import { newKey } from '../../lib/new-key.ts'

/**
 * Idempotency keys of requests. A retry of the same request without a response keeps its key; a changed
 * request, or one after a response, gets a new key.
 */
export function useSendKey() {
  const last = useRef<{ body: string; key: string } | null>(null)
  return {
    keyFor(request: object): string {
      const body = JSON.stringify(request)
      if (last.current?.body !== body) last.current = { body, key: newKey() }
      return last.current.key
    },
    answered(): void {
      last.current = null
    },
  }
}
