import type { SealedText } from '../../foundation/vault/index.ts'
import type { Executor } from '../../ports/database/port.ts'
import type { Proof } from '../users/index.ts'

type SecondFactorRow = {
  user_id: string
  sealed_secret: SealedText
  created_at: string
  /** Null: not confirmed and not required yet. */
  confirmed_at: string | null
  /** The newest time step whose code was accepted. Codes of this and earlier steps are used. */
  last_step: number | null
}

export type ChallengeRow = {
  token_hash: string
  user_id: string
  mode: Proof['mode']
  /** SHA-256 of the password hash of the first step. A password changed since then voids the challenge. */
  password_digest: string | null
  tries: number
  expires_at: string
}

type SecondFactorTables = {
  second_factors: SecondFactorRow
  recovery_codes: { user_id: string; code_hash: string }
  sign_in_challenges: ChallengeRow
}

export function factorStore(executor: Executor) {
  const db = executor.withTables<SecondFactorTables>()
  return {
    async byUser(userId: string): Promise<SecondFactorRow | null> {
      const query = db.selectFrom('second_factors').selectAll().where('user_id', '=', userId)
      return (await query.executeTakeFirst()) ?? null
    },

    /** Replaces an unconfirmed factor; false if there is a confirmed one. */
    async start(userId: string, sealed_secret: SealedText, created_at: string): Promise<boolean> {
      const { numInsertedOrUpdatedRows } = await db
        .insertInto('second_factors')
        .values({ user_id: userId, sealed_secret, created_at, confirmed_at: null, last_step: null })
        .onConflict((conflict) =>
          conflict
            .column('user_id')
            .doUpdateSet({ sealed_secret, created_at })
            .where('second_factors.confirmed_at', 'is', null),
        )
        .executeTakeFirst()
      return (numInsertedOrUpdatedRows ?? 0n) > 0n
    },

    /** False if another secret was started or confirmed in the meantime. */
    async confirm(row: SecondFactorRow, step: number, at: string): Promise<boolean> {
      const { numUpdatedRows } = await db
        .updateTable('second_factors')
        .set({ confirmed_at: at, last_step: step })
        .where('user_id', '=', row.user_id)
        .where('sealed_secret', '=', row.sealed_secret)
        .where('confirmed_at', 'is', null)
        .executeTakeFirst()
      return numUpdatedRows > 0n
    },

    /** False if this step or a later one was used: a code works once. */
    async useStep(userId: string, step: number): Promise<boolean> {
      const { numUpdatedRows } = await db
        .updateTable('second_factors')
        .set({ last_step: step })
        .where('user_id', '=', userId)
        .where('confirmed_at', 'is not', null)
        .where((eb) => eb.or([eb('last_step', 'is', null), eb('last_step', '<', step)]))
        .executeTakeFirst()
      return numUpdatedRows > 0n
    },

    /** False for an unknown or used code. */
    async useRecoveryCode(userId: string, hashes: string[]): Promise<boolean> {
      const { numDeletedRows } = await db
        .deleteFrom('recovery_codes')
        .where('user_id', '=', userId)
        .where('code_hash', 'in', hashes)
        .executeTakeFirst()
      return numDeletedRows > 0n
    },

    async replaceRecoveryCodes(userId: string, hashes: string[]): Promise<void> {
      await db.deleteFrom('recovery_codes').where('user_id', '=', userId).execute()
      const rows = hashes.map((code_hash) => ({ user_id: userId, code_hash }))
      await db.insertInto('recovery_codes').values(rows).execute()
    },

    async recoveryCodesLeft(userId: string): Promise<number> {
      const { count } = await db
        .selectFrom('recovery_codes')
        .select((eb) => eb.fn.countAll().as('count'))
        .where('user_id', '=', userId)
        .executeTakeFirstOrThrow()
      return Number(count)
    },

    async remove(userId: string): Promise<void> {
      await db.deleteFrom('recovery_codes').where('user_id', '=', userId).execute()
      await db.deleteFrom('second_factors').where('user_id', '=', userId).execute()
    },
  }
}

export function challengeStore(executor: Executor) {
  const db = executor.withTables<SecondFactorTables>()
  return {
    async insert(row: ChallengeRow): Promise<void> {
      await db.insertInto('sign_in_challenges').values(row).execute()
    },

    /** Returns null for an unknown or expired challenge. */
    async live(tokenHash: string, now: string): Promise<ChallengeRow | null> {
      const row = await db
        .selectFrom('sign_in_challenges')
        .selectAll()
        .where('token_hash', '=', tokenHash)
        .where('expires_at', '>', now)
        .executeTakeFirst()
      return row ?? null
    },

    /** False if no try is left. */
    async countTry(tokenHash: string, maxTries: number): Promise<boolean> {
      const { numUpdatedRows } = await db
        .updateTable('sign_in_challenges')
        .set((eb) => ({ tries: eb('tries', '+', 1) }))
        .where('token_hash', '=', tokenHash)
        .where('tries', '<', maxTries)
        .executeTakeFirst()
      return numUpdatedRows > 0n
    },

    /** True for the one caller that deletes it. */
    async end(tokenHash: string): Promise<boolean> {
      const { numDeletedRows } = await db
        .deleteFrom('sign_in_challenges')
        .where('token_hash', '=', tokenHash)
        .executeTakeFirst()
      return numDeletedRows > 0n
    },

    async endAll(userId: string): Promise<void> {
      await db.deleteFrom('sign_in_challenges').where('user_id', '=', userId).execute()
    },

    async deleteExpired(now: string): Promise<void> {
      await db.deleteFrom('sign_in_challenges').where('expires_at', '<=', now).execute()
    },
  }
}
