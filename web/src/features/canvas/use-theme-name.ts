import { useSyncExternalStore } from 'react'

/** The theme that is shown, for what has to be drawn anew when it changes. */
export function useThemeName(): string {
  return useSyncExternalStore(onChange, () => document.documentElement.dataset.theme ?? 'light')
}

function onChange(listener: () => void): () => void {
  const observer = new MutationObserver(listener)
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] })
  return () => observer.disconnect()
}
