import type { Executor } from '../../ports/database/port.ts'
import type { PreferenceRow, PreferenceTables } from './tables.ts'

export function preferenceStore(executor: Executor) {
  const db = executor.withTables<PreferenceTables>()
  return {
    async list(userId: string): Promise<PreferenceRow[]> {
      return db.selectFrom('preferences').selectAll().where('user_id', '=', userId).orderBy('key').execute()
    },

    async byKey(userId: string, key: string): Promise<PreferenceRow | null> {
      const query = db
        .selectFrom('preferences')
        .selectAll()
        .where('user_id', '=', userId)
        .where('key', '=', key)
      return (await query.executeTakeFirst()) ?? null
    },

    /** False when the key is there already. */
    async insert(row: PreferenceRow): Promise<boolean> {
      const { numInsertedOrUpdatedRows } = await db
        .insertInto('preferences')
        .values(row)
        .onConflict((conflict) => conflict.columns(['user_id', 'key']).doNothing())
        .executeTakeFirst()
      return (numInsertedOrUpdatedRows ?? 0n) > 0n
    },

    /** False when the value is not the one of `from` any more. */
    async replace(row: PreferenceRow, from: string): Promise<boolean> {
      const { numUpdatedRows } = await db
        .updateTable('preferences')
        .set({ value: row.value, updated_at: row.updated_at })
        .where('user_id', '=', row.user_id)
        .where('key', '=', row.key)
        .where('updated_at', '=', from)
        .executeTakeFirst()
      return numUpdatedRows > 0n
    },

    async remove(userId: string, key: string): Promise<boolean> {
      const { numDeletedRows } = await db
        .deleteFrom('preferences')
        .where('user_id', '=', userId)
        .where('key', '=', key)
        .executeTakeFirst()
      return numDeletedRows > 0n
    },
  }
}
