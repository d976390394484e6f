type Waiting<Item, Result> = {
  item: Item
  order: number
  resolve(result: Result): void
  reject(error: unknown): void
}

const mostTogether = 125

/**
 * Gives to `commit` together what comes together, by its order, one batch after another. Nobody waits for company:
 * what comes while a batch is on its way is the next one. `commit` answers for each of them.
 */
export function createLine<Item, Result>(
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
