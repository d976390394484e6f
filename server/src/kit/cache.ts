import type { Clock } from './clock.ts'

/** Caches results of `load` until they are forgotten. */
export type Cache<T> = {
  /** Returns null, which is not cached, when there is no value. */
  get(key: string): Promise<T | null>
  /** Also prevents caching of loads that are in progress. */
  forget(which: (value: T) => boolean): void
  clear(): void
}

/**
 * Exact in one process if every change is reported after its commit. `maxAgeSeconds` limits the effect of a
 * lost message from another process. Above `maxEntries` the oldest entry is removed.
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

  /** Concurrent callers share one load. */
  function loadOnce(key: string): Promise<T | null> {
    const current = loading.get(key)
    if (current) return current
    const loaded = load(key).finally(() => {
      if (loading.get(key) === loaded) loading.delete(key)
    })
    loading.set(key, loaded)
    return loaded
  }

  return {
    async get(key) {
      const now = clock.now().getTime()
      const cached = entries.get(key)
      // Requires `now >= at`: a clock that was set back must not extend an entry's life.
      if (cached && now >= cached.at && now - cached.at < maxAge) return cached.value
      const before = generation
      const value = await loadOnce(key)
      if (value === null) entries.delete(key)
      // A change during the load may be missing in the loaded value.
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
