/**
 * The person's bearer token, shared by all tabs of this browser. It is kept in local storage and not in a
 * cookie: no request carries it unless this application puts it there, so there is nothing to forge.
 */
export type Session = {
  token(): string | null
  begin(token: string): void
  end(): void
  /** Called when a session begins or ends, in this tab or another. */
  onChange(listener: () => void): () => void
}

/** Under which each kind of session is kept: a person's own, and that of the Workspace alone. */
export const sessionKeys = { person: 'roost.token', guest: 'roost.workspace-token' } as const

export function createSession(storage: Storage, tabs: EventTarget, storageKey: string): Session {
  const listeners = new Set<() => void>()
  const changed = () => {
    for (const listener of listeners) listener()
  }
  tabs.addEventListener('storage', (event) => {
    if (event instanceof StorageEvent && event.key === storageKey) changed()
  })
  return {
    token: () => storage.getItem(storageKey),
    begin(token) {
      storage.setItem(storageKey, token)
      changed()
    },
    end() {
      if (storage.getItem(storageKey) === null) return
      storage.removeItem(storageKey)
      changed()
    },
    onChange(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
