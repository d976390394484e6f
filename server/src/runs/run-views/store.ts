import { type Executor, isDuplicate } from '../../ports/database/port.ts'
import type { RunViewRow } from './rules.ts'

/** Shared views that are read for a list. */
const maxShared = 500

export function runViewStore(executor: Executor) {
  const db = executor.withTables<{ run_views: RunViewRow }>()
  return {
    async byId(id: string): Promise<RunViewRow | null> {
      return (await db.selectFrom('run_views').selectAll().where('id', '=', id).executeTakeFirst()) ?? null
    },

    ownedBy: (userId: string): Promise<RunViewRow[]> =>
      db.selectFrom('run_views').selectAll().where('user_id', '=', userId).orderBy('name').execute(),

    sharedByOthers: (userId: string): Promise<RunViewRow[]> =>
      db
        .selectFrom('run_views')
        .selectAll()
        .where('is_shared', '=', 1)
        .where('user_id', '!=', userId)
        .orderBy('name')
        .orderBy('id')
        .limit(maxShared)
        .execute(),

    async count(userId: string): Promise<number> {
      const { number } = await db
        .selectFrom('run_views')
        .select(({ fn }) => fn.countAll<number>().as('number'))
        .where('user_id', '=', userId)
        .executeTakeFirstOrThrow()
      return Number(number)
    },

    /** False if the person has a view of this name. */
    async insert(row: RunViewRow): Promise<boolean> {
      const added = await db
        .insertInto('run_views')
        .values(row)
        .onConflict((conflict) => conflict.columns(['user_id', 'name']).doNothing())
        .returning('id')
        .executeTakeFirst()
      return added !== undefined
    },

    /** False if the person has another view of this name. */
    async update({ id, name, query, is_shared, updated_at }: RunViewRow): Promise<boolean> {
      try {
        await db
          .updateTable('run_views')
          .set({ name, query, is_shared, updated_at })
          .where('id', '=', id)
          .execute()
        return true
      } catch (error) {
        if (isDuplicate(error)) return false
        throw error
      }
    },

    async remove(id: string): Promise<void> {
      await db.deleteFrom('run_views').where('id', '=', id).execute()
    },
  }
}
