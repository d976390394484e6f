import type { PublicIdentity } from '@roost/contracts/conversations/public-chat'

/** What this browser keeps for one link: who it is there. Shared by its tabs. */
export type Visit = {
  identity(): PublicIdentity
  keep(identity: PublicIdentity): void
  forget(): void
  onChange(listener: () => void): () => void
  /** The same text while nothing changes. */
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
    keep(identity) {
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

/** Whatever stands in the storage: a person may have changed it, and so may another version of this page. */
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
