type Waiting<Item, Result> = {
  item: Item
  order: number
  resolve(result: Result): void
  reject(error: unknown): void
}

/** More than a hundred cost half as much together; more than this keep the first waiting for the last. */
export const mostTogether = 260

/** Lines beside each other: what is of one `key` always goes by the same one. */
export function createLines<Item, Result>(
  count: number,
  commit: (items: readonly Item[]) => Promise<readonly PromiseSettledResult<Result>[]>,
) {
  const lines = Array.from({ length: count }, () => createLine(commit))
  return (key: string, item: Item, order: number): Promise<Result> => {
    const line = lines[sumOf(key) % count]
    if (!line) throw new Error('There is no line.')
    return line(item, order)
  }
}

/** Of all characters: the last one of an id of 128 bits is one of four. */
function sumOf(key: string): number {
  return Array.from(key).reduce((sum, character) => sum + character.charCodeAt(0), 0)
}

/**
 * Gives to `commit` together what comes together, by its order, one batch after another. Nobody waits for company:
 * what comes while a batch is on its way is the next one. `commit` answers for each of them.
 */
function createLine<Item, Result>(
  commit: (items: readonly Item[]) => Promise<readonly PromiseSettledResult<Result>[]>,
) {
  let waiting: Waiting<Item, Result>[] = []
  let isBusy = false

  async function work(): Promise<void> {
    while (waiting.length > 0) {
      const inOrder = waiting.sort((a, b) => a.order - b.order)
      const batch = inOrder.slice(0, mostTogether)
      waiting = inOrder.slice(mostTogether)
      await answer(batch)
    }
    isBusy = false
  }

  async function answer(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await commit(batch.map(({ item }) => item))
      for (const [index, { resolve, reject }] of batch.entries()) {
        const result = results[index]
        if (result?.status === 'fulfilled') resolve(result.value)
        else reject(result?.reason ?? new Error('There is no answer.'))
      }
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
  }

  return (item: Item, order: number): Promise<Result> =>
    new Promise((resolve, reject) => {
      waiting.push({ item, order, resolve, reject })
      if (isBusy) return
      isBusy = true
      // What else is on its way now comes along.
      setImmediate(() => void work())
    })
}
