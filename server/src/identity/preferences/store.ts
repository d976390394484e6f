import type { Executor } from '../../ports/database/port.ts'

export type PreferenceRow = {
  user_id: string
  key: string
  /** JSON. */
  value: string
  updated_at: string
}

type PreferenceTables = { preferences: PreferenceRow }

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

    /** False if the key exists already. */
    async insert(row: PreferenceRow): Promise<boolean> {
      const { numInsertedOrUpdatedRows } = await db
        .insertInto('preferences')
        .values(row)
        .onConflict((conflict) => conflict.columns(['user_id', 'key']).doNothing())
        .executeTakeFirst()
      return (numInsertedOrUpdatedRows ?? 0n) > 0n
    },

    /** False if the value has changed since `from`. */
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
