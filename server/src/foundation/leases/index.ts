import { type Clock, secondsLater, timestamp } from '../../kit/clock.ts'
import type { Db } from '../../ports/database/port.ts'
import { leaseStore } from './store.ts'

/**
 * Who may do what only one process should do at a time. A lease ends by itself when its holder dies; its
 * token grows with every taking, so that a holder that was paused and overtaken can be told from its
 * successor. Decided by conditional updates in the database.
 */
export type Leases = {
  /** Null while another holder's lease has not expired. A holder may take its own again. */
  take(name: string, holder: string, ttlSeconds: number): Promise<Lease | null>
  /** False when the lease has expired or was taken by somebody else: stop what it allowed. */
  renew(lease: Lease, ttlSeconds: number): Promise<boolean>
  /** Renews everything the holder still has, in one statement, and answers it. */
  renewAll(holder: string, ttlSeconds: number): Promise<Lease[]>
  /** Lets the next holder in at once. */
  release(lease: Lease): Promise<void>
}

export type Lease = { name: string; holder: string; token: number }

export function createLeases(deps: { db: Db; clock: Pick<Clock, 'now'> }): Leases {
  const store = leaseStore(deps.db)
  const until = (ttlSeconds: number) => {
    const now = deps.clock.now()
    return { now: timestamp(now), expires_at: timestamp(secondsLater(now, ttlSeconds)) }
  }
  return {
    async take(name, holder, ttlSeconds) {
      const token = await store.take({ name, holder, ...until(ttlSeconds) })
      return token === null ? null : { name, holder, token }
    },
    renew: ({ name, token }, ttlSeconds) => store.renew({ name, token, ...until(ttlSeconds) }),
    renewAll: (holder, ttlSeconds) => store.renewAll({ holder, ...until(ttlSeconds) }),
    release: ({ name, token }) => store.release({ name, token }),
  }
}
