/**
 * The person's bearer token, shared by all tabs of this browser. It is kept in local storage and not in a
 * cookie: no request carries it unless this application puts it there, so there is nothing to forge.
 */
export type Session = {
  token(): string | null
  begin(token: string): void
  /** The person leaves. */
  end(): void
  /** The platform has refused the token: it is forgotten, and the pages wait for the person to sign in again. */
  lapse(): void
  /** Nothing of the person is shown in this tab any more: whoever signs in here replaces nobody. */
  forget(): void
  /** Whether the pages of this tab wait so. */
  isLapsed(): boolean
  /** Called when the session changes, in this tab or another. */
  onChange(listener: (change: SessionChange) => void): () => void
}

/**
 * `resumed`: the same person is back. `replaced`: another one has come while pages of the one before are shown.
 */
export type SessionChange = 'begun' | 'resumed' | 'replaced' | 'lapsed' | 'ended'

/** Under which each kind of session is kept: a person's own, and that of the Workspace alone. */
export const sessionKeys = { person: 'roost.token', guest: 'roost.workspace-token' } as const

export function createSession(storage: Storage, tabs: EventTarget, storageKey: string): Session {
  const listeners = new Set<(change: SessionChange) => void>()
  const token = () => storage.getItem(storageKey)
  // Tells the other tabs that nobody has left.
  const lapsedKey = `${storageKey}.lapsed`
  /** Whose pages this tab shows; null: nobody's. */
  let owner = ownerOf(token())
  const isLapsed = () => owner !== null && token() === null

  function changed(): void {
    const change = changeTo(token())
    for (const listener of listeners) listener(change)
  }
  function changeTo(next: string | null): SessionChange {
    const before = owner
    if (next === null) {
      if (before !== null && storage.getItem(lapsedKey) !== null) return 'lapsed'
      owner = null
      return 'ended'
    }
    owner = ownerOf(next)
    if (before === null) return 'begun'
    return owner === before ? 'resumed' : 'replaced'
  }
  tabs.addEventListener('storage', (event) => {
    if (!(event instanceof StorageEvent)) return
    const hasLeft = event.key === lapsedKey && isLapsed() && storage.getItem(lapsedKey) === null
    if (event.key === storageKey || hasLeft) changed()
  })

  return {
    token,
    begin(next) {
      storage.setItem(storageKey, next)
      storage.removeItem(lapsedKey)
      changed()
    },
    end() {
      storage.removeItem(lapsedKey)
      const wasLapsed = owner !== null
      owner = null
      if (token() === null && !wasLapsed) return
      storage.removeItem(storageKey)
      changed()
    },
    lapse() {
      if (token() === null) return
      storage.setItem(lapsedKey, 'yes')
      storage.removeItem(storageKey)
      changed()
    },
    forget() {
      owner = null
    },
    isLapsed,
    onChange(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

/** Who is named in a token; null where that cannot be read, which makes whoever comes next another one. */
function ownerOf(token: string | null): string | null {
  try {
    const payload = token?.split('.')[1] ?? ''
    const claims: unknown = JSON.parse(atob(payload.replaceAll('-', '+').replaceAll('_', '/')))
    if (typeof claims !== 'object' || claims === null || !('sub' in claims)) return null
    return typeof claims.sub === 'string' ? claims.sub : null
  } catch {
    return null
  }
}
