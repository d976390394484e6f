import type { SealedText } from '../../foundation/vault/index.ts'
import type { Executor } from '../../ports/database/port.ts'

type GitTokenRow = { user_id: string; sealed: SealedText; updated_at: string }

type GitTokenTables = { git_tokens: GitTokenRow }

export function gitTokenStore(executor: Executor) {
  const db = executor.withTables<GitTokenTables>()
  return {
    async sealedOf(userId: string): Promise<SealedText | null> {
      const query = db.selectFrom('git_tokens').select('sealed').where('user_id', '=', userId)
      return (await query.executeTakeFirst())?.sealed ?? null
    },

    async put(row: GitTokenRow): Promise<void> {
      const { sealed, updated_at } = row
      await db
        .insertInto('git_tokens')
        .values(row)
        .onConflict((conflict) => conflict.column('user_id').doUpdateSet({ sealed, updated_at }))
        .execute()
    },

    async remove(userId: string): Promise<void> {
      await db.deleteFrom('git_tokens').where('user_id', '=', userId).execute()
    },
  }
}
