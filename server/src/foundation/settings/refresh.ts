/**
 * Serializes calls of `load`. The returned promise is that of a load that starts after the call, so it includes the
 * caller's own writes. Waiting callers share one load.
 */
export function createRefresh(load: () => Promise<void>): () => Promise<void> {
  let last: Promise<void> = Promise.resolve()
  let waiting: Promise<void> | null = null
  return () => {
    if (waiting) return waiting
    const run = last.then(() => {
      waiting = null
      return load()
    })
    waiting = run
    last = run.catch(() => {})
    return run
  }
}
