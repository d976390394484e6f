/**
 * Makes runs of `load` follow one another. The promise it gives is that of a load which starts after the
 * call, so whoever has just written something finds it there; callers that wait share one.
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
