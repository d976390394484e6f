import type { Executor } from '../../ports/database/port.ts'

type EmailCodeRow = {
  /** What the code is for and, after `@`, where it was requested. A newer code of the same pair replaces it. */
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
        .where('wrong_tries', '<=', limits.tries)
        .executeTakeFirst()
      return numDeletedRows > 0n
    },

    /** Counts a try that was not checked yet. Returns the tries so far; 0 without a code. */
    async countTry({ purpose, email }: CodeKey): Promise<number> {
      const row = await db
        .updateTable('email_codes')
        .set((eb) => ({ wrong_tries: eb('wrong_tries', '+', 1) }))
        .where('purpose', '=', purpose)
        .where('email', '=', email)
        .returning('wrong_tries')
        .executeTakeFirst()
      return row?.wrong_tries ?? 0
    },

    /** Removes the codes of a purpose, wherever they were requested. */
    async removeAll(purpose: string, email: string): Promise<void> {
      await db
        .deleteFrom('email_codes')
        .where('email', '=', email)
        .where((eb) =>
          eb.or([
            eb('purpose', '=', purpose),
            eb(eb.fn('substr', ['purpose', eb.lit(1), eb.lit(purpose.length + 1)]), '=', `${purpose}@`),
          ]),
        )
        .execute()
    },

    async removeAllOf(email: string): Promise<void> {
      await db.deleteFrom('email_codes').where('email', '=', email).execute()
    },

    async deleteExpired(now: string): Promise<void> {
      await db.deleteFrom('email_codes').where('expires_at', '<=', now).execute()
    },
  }
}
