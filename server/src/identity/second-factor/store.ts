import type { Executor } from '../../ports/database/port.ts'
import type { SecondFactorRow, SecondFactorTables } from './tables.ts'

export function factorStore(executor: Executor) {
  const db = executor.withTables<SecondFactorTables>()
  return {
    async byUser(userId: string): Promise<SecondFactorRow | null> {
      const query = db.selectFrom('second_factors').selectAll().where('user_id', '=', userId)
      return (await query.executeTakeFirst()) ?? null
    },

    /** Takes the place of one that was not confirmed; false when there is a confirmed one. */
    async start(userId: string, sealed_secret: string, created_at: string): Promise<boolean> {
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

    /** False when another secret was started, or one confirmed, meanwhile. */
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

    /** False when the step or a later one was used: a code works once. */
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

    /** False when there is no such code (any more). */
    async useRecoveryCode(userId: string, code_hash: string): Promise<boolean> {
      const { numDeletedRows } = await db
        .deleteFrom('recovery_codes')
        .where('user_id', '=', userId)
        .where('code_hash', '=', code_hash)
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
