/** Caches the result of `work`. A failure is not cached: the next call tries again. */
export function memoize<T>(work: () => Promise<T>): () => Promise<T> {
  let cached: Promise<T> | null = null
  return () => {
    if (cached) return cached
    const current = work()
    cached = current
    current.catch(() => {
      cached = null
    })
    return current
  }
}
