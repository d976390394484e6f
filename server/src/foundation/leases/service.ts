import { type Clock, secondsLater, timestamp } from '../../kit/clock.ts'
import type { Db } from '../../ports/database/port.ts'
import { leaseStore } from './store.ts'

/** Decided by conditional updates in the database. */
export type Leases = {
  /** Null while another holder's lease has not expired. A holder can take its own lease again. */
  take(name: string, holder: string, ttlSeconds: number): Promise<Lease | null>
  /** False when the lease has expired or has a new holder: stop the protected work. */
  renew(lease: Lease, ttlSeconds: number): Promise<boolean>
  /** Renews all leases of the holder that have not expired, in one statement, and returns them. */
  renewAll(holder: string, ttlSeconds: number): Promise<Lease[]>
  /** The next holder can take the lease immediately. */
  release(lease: Lease): Promise<void>
  /** All leases that have not expired, by name. */
  held(): Promise<HeldLease[]>
  /** Those of `names` that somebody holds now. */
  heldAmong(names: readonly string[]): Promise<string[]>
}

export type Lease = { name: string; holder: string; token: number }

/** `since` is null if an earlier version granted the lease. */
export type HeldLease = { name: string; holder: string; since: string | null; until: string }

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
    heldAmong: (names) => store.heldAmong(names, timestamp(deps.clock.now())),
    async held() {
      const rows = await store.held(timestamp(deps.clock.now()))
      return rows.map(({ name, holder, acquired_at, expires_at }) => ({
        ...{ name, holder, since: acquired_at, until: expires_at },
      }))
    },
  }
}
