import type { Executor } from '../../ports/database/port.ts'

type EmailCodeRow = {
  /** What the code is for. A newer code of the same purpose and address replaces it. */
  purpose: string
  email: string
  /** Hashed with the installation's key, because six digits are easy to brute-force. */
  code_hash: string
  wrong_tries: number
  expires_at: string
}

type EmailCodeTables = { email_codes: EmailCodeRow }

type CodeKey = Pick<EmailCodeRow, 'purpose' | 'email'>

export function emailCodeStore(executor: Executor) {
  const db = executor.withTables<EmailCodeTables>()
  return {
    async put(row: EmailCodeRow): Promise<void> {
      const { code_hash, wrong_tries, expires_at } = row
      await db
        .insertInto('email_codes')
        .values(row)
        .onConflict((conflict) =>
          conflict.columns(['purpose', 'email']).doUpdateSet({ code_hash, wrong_tries, expires_at }),
        )
        .execute()
    },

    /** True for the one caller that deletes the code. */
    async consume(
      code: CodeKey & { code_hash: string },
      limits: { tries: number; now: string },
    ): Promise<boolean> {
      const { numDeletedRows } = await db
        .deleteFrom('email_codes')
        .where('purpose', '=', code.purpose)
        .where('email', '=', code.email)
        .where('code_hash', '=', code.code_hash)
        .where('expires_at', '>', limits.now)
        .where('wrong_tries', '<', limits.tries)
        .executeTakeFirst()
      return numDeletedRows > 0n
    },

    async countWrong({ purpose, email }: CodeKey): Promise<void> {
      await db
        .updateTable('email_codes')
        .set((eb) => ({ wrong_tries: eb('wrong_tries', '+', 1) }))
        .where('purpose', '=', purpose)
        .where('email', '=', email)
        .execute()
    },

    async deleteExpired(now: string): Promise<void> {
      await db.deleteFrom('email_codes').where('expires_at', '<=', now).execute()
    },
  }
}
