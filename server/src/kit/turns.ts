/** Runs work when a slot is free. */
export type Turns = <T>(work: () => Promise<T>) => Promise<T>

/** Runs at most `limit` tasks concurrently; others wait in order. */
export function createTurns(limit: number): Turns {
  const waiting: (() => void)[] = []
  let running = 0
  return async (work) => {
    if (running < limit) running += 1
    // A finished task hands over its slot, so the count stays.
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

/** Runs work of one key in order; different keys run concurrently. */
export type TurnsByKey = <T>(key: string, work: () => Promise<T>) => Promise<T>

export function createTurnsByKey(): TurnsByKey {
  const last = new Map<string, Promise<unknown>>()
  return async (key, work) => {
    const before = last.get(key) ?? Promise.resolve()
    // A failure of earlier work is reported to its own caller.
    const current = before.catch(() => {}).then(work)
    last.set(key, current)
    try {
      return await current
    } finally {
      if (last.get(key) === current) last.delete(key)
    }
  }
}
