import type { Executor } from '../../ports/database/port.ts'
import type { ChallengeRow, SecondFactorTables } from './tables.ts'

export function challengeStore(executor: Executor) {
  const db = executor.withTables<SecondFactorTables>()
  return {
    async insert(row: ChallengeRow): Promise<void> {
      await db.insertInto('sign_in_challenges').values(row).execute()
    },

    /** Null when it is unknown or has expired. */
    async live(tokenHash: string, now: string): Promise<ChallengeRow | null> {
      const row = await db
        .selectFrom('sign_in_challenges')
        .selectAll()
        .where('token_hash', '=', tokenHash)
        .where('expires_at', '>', now)
        .executeTakeFirst()
      return row ?? null
    },

    /** False when all tries are used up. */
    async countTry(tokenHash: string, most: number): Promise<boolean> {
      const { numUpdatedRows } = await db
        .updateTable('sign_in_challenges')
        .set((eb) => ({ tries: eb('tries', '+', 1) }))
        .where('token_hash', '=', tokenHash)
        .where('tries', '<', most)
        .executeTakeFirst()
      return numUpdatedRows > 0n
    },

    /** True for the one caller that ends it. */
    async end(tokenHash: string): Promise<boolean> {
      const { numDeletedRows } = await db
        .deleteFrom('sign_in_challenges')
        .where('token_hash', '=', tokenHash)
        .executeTakeFirst()
      return numDeletedRows > 0n
    },

    async deleteExpired(now: string): Promise<void> {
      await db.deleteFrom('sign_in_challenges').where('expires_at', '<=', now).execute()
    },
  }
}
