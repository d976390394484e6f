import type { Executor } from '../../ports/database/port.ts'

export type SessionRow = {
  jti: string
  user_id: string
  /** The boot that signed the session, which ends with it. Null for sessions older than this column. */
  epoch: string | null
  mode: 'admin' | 'email'
  created_at: string
  expires_at: string
  /** The row stays until `expires_at`, so that the token stays refused. */
  revoked_at: string | null
}

type SessionTables = { sessions: SessionRow }

export function sessionStore(executor: Executor) {
  const db = executor.withTables<SessionTables>()
  return {
    async byId(jti: string): Promise<SessionRow | null> {
      return (await db.selectFrom('sessions').selectAll().where('jti', '=', jti).executeTakeFirst()) ?? null
    },

    async insert(row: SessionRow): Promise<void> {
      await db.insertInto('sessions').values(row).execute()
    },

    async revoke(jti: string, now: string): Promise<void> {
      await db
        .updateTable('sessions')
        .set({ revoked_at: now })
        .where('jti', '=', jti)
        .where('revoked_at', 'is', null)
        .execute()
    },

    async revokeOthers(userId: string, exceptJti: string, now: string): Promise<void> {
      await db
        .updateTable('sessions')
        .set({ revoked_at: now })
        .where('user_id', '=', userId)
        .where('jti', '!=', exceptJti)
        .where('revoked_at', 'is', null)
        .execute()
    },

    async revokeAll(userId: string, now: string): Promise<void> {
      await db
        .updateTable('sessions')
        .set({ revoked_at: now })
        .where('user_id', '=', userId)
        .where('revoked_at', 'is', null)
        .execute()
    },

    /** Writes the row, so that its revocation waits. False if it is revoked or deleted. */
    async holdOpen(jti: string): Promise<boolean> {
      const result = await db
        .updateTable('sessions')
        .set({ revoked_at: null })
        .where('jti', '=', jti)
        .where('revoked_at', 'is', null)
        .executeTakeFirst()
      return Number(result.numUpdatedRows) === 1
    },

    async deleteExpired(now: string): Promise<void> {
      await db.deleteFrom('sessions').where('expires_at', '<=', now).execute()
    },
  }
}
