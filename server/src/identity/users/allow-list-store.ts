import type { AllowListSource } from '@roost/contracts/identity/allow-list'
import type { Role } from '@roost/contracts/kit/access'
import type { Executor } from '../../ports/database/port.ts'

type AllowListRow = {
  /** In lower case. */
  email: string
  id: string
  /** Role of the account that the first sign-in creates. */
  default_role: Role
  source: AllowListSource
  /** A user name. */
  added_by: string | null
  added_at: string
}

type AllowListTables = { allow_list: AllowListRow }

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

    /** False if the address is listed already. */
    async insert(row: AllowListRow): Promise<boolean> {
      const { numInsertedOrUpdatedRows } = await db
        .insertInto('allow_list')
        .values(row)
        .onConflict((conflict) => conflict.column('email').doNothing())
        .executeTakeFirst()
      return (numInsertedOrUpdatedRows ?? 0n) > 0n
    },

    /** False if the address is not listed. */
    async remove(email: string): Promise<boolean> {
      const { numDeletedRows } = await db
        .deleteFrom('allow_list')
        .where('email', '=', email)
        .executeTakeFirst()
      return numDeletedRows > 0n
    },
  }
}
