import type { Clock } from './clock.ts'

/** Remembers what `load` answered until told that it changed. */
export type Cache<T> = {
  /** Null, which is not remembered, when there is no such thing. */
  get(key: string): Promise<T | null>
  /** What was being loaded meanwhile is not remembered either. */
  forget(which: (value: T) => boolean): void
  clear(): void
}

/**
 * Exact in one process when every change is told after its commit; `maxAgeSeconds` bounds what a lost
 * message from another process can cost. Above `maxEntries` the oldest entry goes.
 */
export function createCache<T>(options: {
  clock: Pick<Clock, 'now'>
  maxAgeSeconds: number
  maxEntries: number
  load(key: string): Promise<T | null>
}): Cache<T> {
  const { clock, maxEntries, load } = options
  const maxAge = options.maxAgeSeconds * 1000
  const entries = new Map<string, { value: T; at: number }>()
  const loading = new Map<string, Promise<T | null>>()
  let generation = 0

  /** Those who ask while it is being loaded wait for the same answer. */
  function loadOnce(key: string): Promise<T | null> {
    const begun = loading.get(key)
    if (begun) return begun
    const loaded = load(key).finally(() => {
      if (loading.get(key) === loaded) loading.delete(key)
    })
    loading.set(key, loaded)
    return loaded
  }

  return {
    async get(key) {
      const now = clock.now().getTime()
      const held = entries.get(key)
      // Also not newer than now: a clock set back must not lengthen an entry's life.
      if (held && now >= held.at && now - held.at < maxAge) return held.value
      const before = generation
      const value = await loadOnce(key)
      if (value === null) entries.delete(key)
      // A change told while loading may not be in what was loaded.
      else if (before === generation) {
        entries.delete(key)
        entries.set(key, { value, at: now })
        if (entries.size > maxEntries) {
          const oldest = entries.keys().next()
          if (!oldest.done) entries.delete(oldest.value)
        }
      }
      return value
    },
    forget(which) {
      generation += 1
      loading.clear()
      for (const [key, { value }] of entries) if (which(value)) entries.delete(key)
    },
    clear() {
      generation += 1
      loading.clear()
      entries.clear()
    },
  }
}
