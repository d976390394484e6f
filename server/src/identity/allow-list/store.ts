import type { Executor } from '../../ports/database/port.ts'
import type { AllowListRow, AllowListTables } from './tables.ts'

export function allowListStore(executor: Executor) {
  const db = executor.withTables<AllowListTables>()
  return {
    async byEmail(email: string): Promise<AllowListRow | null> {
      const query = db.selectFrom('allow_list').selectAll().where('email', '=', email)
      return (await query.executeTakeFirst()) ?? null
    },

    async list(): Promise<AllowListRow[]> {
      return db.selectFrom('allow_list').selectAll().orderBy('added_at', 'desc').orderBy('email').execute()
    },

    /** False when the address stands there already. */
    async insert(row: AllowListRow): Promise<boolean> {
      const { numInsertedOrUpdatedRows } = await db
        .insertInto('allow_list')
        .values(row)
        .onConflict((conflict) => conflict.column('email').doNothing())
        .executeTakeFirst()
      return (numInsertedOrUpdatedRows ?? 0n) > 0n
    },

    /** False when it does not stand there. */
    async remove(email: string): Promise<boolean> {
      const { numDeletedRows } = await db
        .deleteFrom('allow_list')
        .where('email', '=', email)
        .executeTakeFirst()
      return numDeletedRows > 0n
    },
  }
}
