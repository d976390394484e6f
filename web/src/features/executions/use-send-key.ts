import { useRef } from 'react'
import { newKey } from '../chat/use-live-turns.ts'

/**
 * Keys under which the platform counts a request once. The same request sent again after an answer that never
 * came keeps its key; a changed one, or one after an answer, gets another.
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
