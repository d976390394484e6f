import type { PublicIdentity } from '@roost/contracts/conversations/public-chat'

/** The identity of this browser on one link, shared by its tabs. */
export type Visit = {
  identity(): PublicIdentity
  store(identity: PublicIdentity): void
  forget(): void
  onChange(listener: () => void): () => void
  /** A string that stays the same until the identity changes. */
  snapshot(): string
}

export function createVisit(storage: Storage, tabs: EventTarget, token: string): Visit {
  const key = `roost.public.${token}`
  const listeners = new Set<() => void>()
  const changed = () => {
    for (const listener of listeners) listener()
  }
  tabs.addEventListener('storage', (event) => {
    if (event instanceof StorageEvent && event.key === key) changed()
  })
  const snapshot = () => storage.getItem(key) ?? ''
  return {
    snapshot,
    identity: () => identityOf(snapshot()),
    store(identity) {
      const text = JSON.stringify(identity)
      if (text === snapshot()) return
      storage.setItem(key, text)
      changed()
    },
    forget() {
      storage.removeItem(key)
      changed()
    },
    onChange(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

/** Validates the stored value, which users and other versions of this page may change. */
export function identityOf(text: string): PublicIdentity {
  try {
    const found: unknown = JSON.parse(text)
    if (typeof found !== 'object' || found === null) return {}
    const part = (name: 'session_id' | 'session_token') => {
      const value: unknown = name in found ? Reflect.get(found, name) : undefined
      return typeof value === 'string' ? { [name]: value } : {}
    }
    return { ...part('session_id'), ...part('session_token') }
  } catch {
    return {}
  }
}
