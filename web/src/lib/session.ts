/**
 * The person's bearer token, shared by all tabs of this browser. Local storage instead of a cookie: only this
 * application attaches it to requests, so there is no request forgery.
 */
export type Session = {
  token(): string | null
  begin(token: string): void
  /** Signs out. */
  end(): void
  /** Forgets a refused token. The pages stay and wait for the person to sign in again. */
  lapse(): void
  /** This tab shows no more data of the person, so the next sign-in replaces nobody. */
  forget(): void
  /** True while the pages of this tab wait for a new sign-in. */
  isLapsed(): boolean
  /** Called when the session changes in any tab. */
  onChange(listener: (change: SessionChange) => void): () => void
}

/**
 * `resumed`: the same person signed in again. `replaced`: another person signed in while pages of the
 * previous one are shown.
 */
export type SessionChange = 'begun' | 'resumed' | 'replaced' | 'lapsed' | 'ended'

/** Storage key of each kind of session: `guest` is valid for the Workspace only. */
export const sessionKeys = { person: 'roost.token', guest: 'roost.workspace-token' } as const

export function createSession(storage: Storage, tabs: EventTarget, storageKey: string): Session {
  const listeners = new Set<(change: SessionChange) => void>()
  const token = () => storage.getItem(storageKey)
  // Lets other tabs distinguish a lapsed session from a sign-out.
  const lapsedKey = `${storageKey}.lapsed`
  /** The person whose pages this tab shows; null for nobody. */
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

/** The `sub` claim of a token; null when unreadable, which never equals the previous person. */
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
