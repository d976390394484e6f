import { type Clock, timestamp } from '../../kit/clock.ts'
import type { Db } from '../../ports/database/port.ts'
import { keyStore, type Usage } from './store.ts'

export type KeyUsage = {
  /** Costs a look into a map; the database hears of it with the next flush. */
  record(keyId: string): void
  /** Writes what is pending; it stays pending when that fails. */
  flush(): Promise<void>
}

/**
 * Counts the use of keys in memory, because a busy key would otherwise cost one write for each call. Every
 * process flushes its own counts every few seconds and at its end; a crash loses no more than those.
 */
export function createKeyUsage({ db, clock }: { db: Db; clock: Clock }): KeyUsage {
  let pending = new Map<string, Usage>()
  let flushing: Promise<void> = Promise.resolve()

  const write = async () => {
    const batch = pending
    if (batch.size === 0) return
    pending = new Map()
    // In one order everywhere, so that two processes never wait for each other.
    const ordered = [...batch].sort(([a], [b]) => (a < b ? -1 : 1))
    try {
      await db.atomically(async (tx) => {
        const store = keyStore(tx)
        for (const [id, usage] of ordered) tx.alongside(store.addUsage(id, usage))
      })
    } catch (error) {
      for (const [id, usage] of ordered) add(pending, id, usage)
      throw error
    }
  }

  return {
    record: (keyId) => add(pending, keyId, { count: 1, last: timestamp(clock.now()) }),
    flush() {
      // One after the other: who asks while a flush runs sees his own counts written too.
      flushing = flushing.catch(() => {}).then(write)
      return flushing
    },
  }
}

function add(pending: Map<string, Usage>, id: string, usage: Usage): void {
  const before = pending.get(id)
  pending.set(id, {
    count: (before?.count ?? 0) + usage.count,
    last: before && before.last > usage.last ? before.last : usage.last,
  })
}
