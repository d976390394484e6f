import { useSyncExternalStore } from 'react'
import { lineOfHash } from './chunks.ts'

/** The line in the page's address; null for none. */
export function useHashLine(): number | null {
  return useSyncExternalStore(onHashChange, () => lineOfHash(location.hash))
}

function onHashChange(listener: () => void): () => void {
  window.addEventListener('hashchange', listener)
  window.addEventListener('popstate', listener)
  return () => {
    window.removeEventListener('hashchange', listener)
    window.removeEventListener('popstate', listener)
  }
}
