import type { Db, Tx } from '../../ports/database/port.ts'

type Work = { order: string; run(tx: Tx): Promise<void>; resolve(): void; reject(error: unknown): void }

/** Transactions at once; the connections of a database are for others, too. */
const lanes = 4
const mostTogether = 64

/**
 * Commits together what comes together: nine o'clock is nine o'clock for a thousand schedules, and a commit of
 * its own would be half the cost of each. Nobody waits for company: what comes alone goes alone. Works of one
 * transaction go in the order of `order`, the key of what they lock, so that two of them never wait for each
 * other. When one of them fails, each is done by itself, and only that one fails.
 */
export function createGroup({ atomically }: Pick<Db, 'atomically'>) {
  const waiting: Work[] = []
  let busy = 0

  function start(): void {
    while (busy < lanes && waiting.length > 0) {
      const works = waiting.splice(0, mostTogether).sort((a, b) => (a.order < b.order ? -1 : 1))
      busy += 1
      void commit(works).finally(() => {
        busy -= 1
        start()
      })
    }
  }

  async function commit(works: readonly Work[]): Promise<void> {
    try {
      await atomically(async (tx) => {
        for (const work of works) await work.run(tx)
      })
      for (const { resolve } of works) resolve()
    } catch (error) {
      const [only, ...more] = works
      if (only && more.length === 0) return only.reject(error)
      for (const work of works) await commit([work])
    }
  }

  return (order: string, run: Work['run']): Promise<void> =>
    new Promise((resolve, reject) => {
      waiting.push({ order, run, resolve, reject })
      start()
    })
}
