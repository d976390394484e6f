import { sql } from 'kysely'
import type { Executor } from '../../ports/database/port.ts'

type LeaseTables = {
  leases: {
    name: string
    holder: string
    token: number
    expires_at: string
    /** Null: granted by a version that did not record it. */
    acquired_at: string | null
  }
}

/** Expiry of a released lease: in the past even after the clock was set back. */
const longPast = '1970-01-01T00:00:00.000Z'

export function leaseStore(on: Executor) {
  const db = on.withTables<LeaseTables>()
  return {
    /** Inserts the lease, or replaces one that is expired or the holder's own. Null when somebody else has it. */
    async take(lease: {
      name: string
      holder: string
      now: string
      expires_at: string
    }): Promise<number | null> {
      const row = await db
        .insertInto('leases')
        .values({
          name: lease.name,
          holder: lease.holder,
          token: 1,
          expires_at: lease.expires_at,
          acquired_at: lease.now,
        })
        .onConflict((conflict) =>
          conflict
            .column('name')
            .doUpdateSet({
              holder: lease.holder,
              token: sql<number>`leases.token + 1`,
              expires_at: lease.expires_at,
              acquired_at: lease.now,
            })
            .where((or) =>
              or.or([or('leases.expires_at', '<=', lease.now), or('leases.holder', '=', lease.holder)]),
            ),
        )
        .returning('token')
        .executeTakeFirst()
      return row?.token ?? null
    },

    async renew(lease: { name: string; token: number; now: string; expires_at: string }): Promise<boolean> {
      const result = await db
        .updateTable('leases')
        .set({ expires_at: lease.expires_at })
        .where('name', '=', lease.name)
        .where('token', '=', lease.token)
        .where('expires_at', '>', lease.now)
        .executeTakeFirst()
      return result.numUpdatedRows > 0n
    },

    renewAll(lease: {
      holder: string
      now: string
      expires_at: string
    }): Promise<{ name: string; holder: string; token: number }[]> {
      return db
        .updateTable('leases')
        .set({ expires_at: lease.expires_at })
        .where('holder', '=', lease.holder)
        .where('expires_at', '>', lease.now)
        .returning(['name', 'holder', 'token'])
        .execute()
    },

    /** Leases that have not expired, by name. */
    held(now: string): Promise<Omit<LeaseTables['leases'], 'token'>[]> {
      return db
        .selectFrom('leases')
        .select(['name', 'holder', 'expires_at', 'acquired_at'])
        .where('expires_at', '>', now)
        .orderBy('name')
        .execute()
    },

    async heldAmong(names: readonly string[], now: string): Promise<string[]> {
      const rows = await db
        .selectFrom('leases')
        .select('name')
        .where('name', 'in', names)
        .where('expires_at', '>', now)
        .execute()
      return rows.map(({ name }) => name)
    },

    /** Keeps the row, because tokens must never repeat. */
    async release(lease: { name: string; token: number }): Promise<void> {
      await db
        .updateTable('leases')
        .set({ expires_at: longPast })
        .where('name', '=', lease.name)
        .where('token', '=', lease.token)
        .execute()
    },
  }
}
