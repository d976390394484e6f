import { type Clock, timestamp } from '../../kit/clock.ts'
import type { Db } from '../../ports/database/port.ts'
import { keyStore, type Usage } from './store.ts'

export type KeyUsage = {
  /** Counts in memory; the next flush writes to the database. */
  record(keyId: string): void
  /** Writes the pending counts, which stay pending if the write fails. */
  flush(): Promise<void>
}

/**
 * Counts the uses of keys in memory, because a busy key would otherwise cost one write per call. Each process
 * flushes its counts every few seconds and when it stops; a crash loses only the pending ones.
 */
export function createKeyUsage({ db, clock }: { db: Db; clock: Clock }): KeyUsage {
  let pending = new Map<string, Usage>()
  let flushing: Promise<void> = Promise.resolve()

  const write = async () => {
    const batch = pending
    if (batch.size === 0) return
    pending = new Map()
    // The same order in every process, so that two flushes cannot deadlock.
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
      // Serialized: a flush requested during another one also writes its own counts.
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
