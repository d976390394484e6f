/**
 * Runs work on all items, on at most `limit` of them at a time. Returns the results in the order of the items, and rejects
 * with the first failure.
 */
export async function atOnce<T, R>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = []
  const left = items.entries()
  async function take(): Promise<void> {
    for (const [at, item] of left) results[at] = await work(item)
  }
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, take))
  return results
}
