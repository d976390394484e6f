/** An item of a batch with the promise of its caller. */
export type BatchEntry<Item, Result> = {
  readonly item: Item
  resolve(result: Result): void
  reject(error: unknown): void
}

export type BatchOptions<Item, Result> = {
  /**
   * Works on a batch of one or more items and settles each entry. If it throws, it must not have settled any;
   * entries that it leaves open are rejected.
   */
  run(entries: readonly BatchEntry<Item, Result>[]): Promise<void>
  maxItems: number
  /** Batches that run concurrently; 1 by default. */
  maxConcurrent?: number
  /** Items of one key stay in order and are never in two concurrent batches. */
  keyOf(item: Item): string
  /** Items of one key in a batch; unlimited by default. */
  maxPerKey?: number
  /** False leaves `item` for a later batch, where `first` begins this one. */
  fits?(first: Item, item: Item): boolean
  /** Order of waiting items; the order of arrival by default. */
  compare?(one: Item, other: Item): number
  /** True: a batch that failed so is repeated item by item. By default every item of it is rejected. */
  repeatsAlone?(error: unknown): boolean
}

/**
 * Combines concurrent calls into batches. No call waits for others to arrive: items that arrive while a batch
 * runs form the next one. The promise of an item settles as its entry does.
 */
export function createBatches<Item, Result>(
  options: BatchOptions<Item, Result>,
): (item: Item) => Promise<Result> {
  const { run, maxItems, maxConcurrent = 1, keyOf, maxPerKey = maxItems } = options
  const { fits = () => true, compare, repeatsAlone = () => false } = options
  type Entry = BatchEntry<Item, Result>
  let waiting: Entry[] = []
  let running = 0
  let isPlanned = false
  const busyKeys = new Set<string>()

  function next(): Entry[] {
    if (compare) waiting.sort((one, other) => compare(one.item, other.item))
    const batch: Entry[] = []
    const rest: Entry[] = []
    const counts = new Map<string, number>()
    const skippedKeys = new Set(busyKeys)
    for (const entry of waiting) {
      const key = keyOf(entry.item)
      const count = counts.get(key) ?? 0
      const [first] = batch
      const isNext =
        batch.length < maxItems &&
        count < maxPerKey &&
        !skippedKeys.has(key) &&
        (!first || fits(first.item, entry.item))
      if (isNext) {
        batch.push(entry)
        counts.set(key, count + 1)
      } else {
        rest.push(entry)
        // Later items of the key stay behind it.
        skippedKeys.add(key)
      }
    }
    waiting = rest
    return batch
  }

  async function attempt(entries: readonly Entry[]): Promise<void> {
    try {
      await run(entries)
      // No effect on a settled promise.
      for (const { reject } of entries) reject(new Error('A batch left an item without a result.'))
    } catch (error) {
      if (entries.length > 1 && repeatsAlone(error)) await repeat(entries)
      else for (const { reject } of entries) reject(error)
    }
  }

  /** Items of one key in order, keys concurrently. */
  async function repeat(entries: readonly Entry[]): Promise<void> {
    const byKey = Map.groupBy(entries, ({ item }) => keyOf(item))
    await Promise.all(
      [...byKey.values()].map(async (own) => {
        for (const entry of own) await attempt([entry])
      }),
    )
  }

  async function work(entries: readonly Entry[]): Promise<void> {
    const keys = new Set(entries.map(({ item }) => keyOf(item)))
    running += 1
    for (const key of keys) busyKeys.add(key)
    await attempt(entries)
    for (const key of keys) busyKeys.delete(key)
    running -= 1
    start()
  }

  function start(): void {
    while (running < maxConcurrent && waiting.length > 0) {
      const entries = next()
      if (entries.length === 0) return
      void work(entries)
    }
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject })
      if (isPlanned) return
      isPlanned = true
      // Calls of the same moment come first.
      setImmediate(() => {
        isPlanned = false
        start()
      })
    })
}
