/** Runs work when it is its turn. */
export type Turns = <T>(work: () => Promise<T>) => Promise<T>

/** At most `atOnce` pieces of work run at the same time; the others wait in the order they came. */
export function createTurns(atOnce: number): Turns {
  const waiting: (() => void)[] = []
  let running = 0
  return async (work) => {
    if (running < atOnce) running += 1
    // Whoever leaves hands over its place, so the count stays.
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else running -= 1
    }
  }
}

/** Work of one key is done in the order in which it came, that of different keys beside each other. */
export type TurnsByKey = <T>(key: string, work: () => Promise<T>) => Promise<T>

export function createTurnsByKey(): TurnsByKey {
  const last = new Map<string, Promise<unknown>>()
  return async (key, work) => {
    const before = last.get(key) ?? Promise.resolve()
    // What came before may have failed; that is its own caller's business.
    const mine = before.catch(() => {}).then(work)
    last.set(key, mine)
    try {
      return await mine
    } finally {
      if (last.get(key) === mine) last.delete(key)
    }
  }
}
