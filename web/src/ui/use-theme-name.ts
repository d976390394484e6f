import { useSyncExternalStore } from 'react'

/** The current theme, for content that must be redrawn when it changes. */
export function useThemeName(): string {
  return useSyncExternalStore(onChange, () => document.documentElement.dataset.theme ?? 'light')
}

function onChange(listener: () => void): () => void {
  const observer = new MutationObserver(listener)
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] })
  return () => observer.disconnect()
}
