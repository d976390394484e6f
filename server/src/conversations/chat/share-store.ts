import type { Executor } from '../../ports/database/port.ts'
import type { ChatSharesTable, ChatTables } from './tables.ts'

export type ShareRow = ChatSharesTable

/** The SQL of shared conversations. */
export function shareStore(executor: Executor) {
  const db = executor.withTables<ChatTables>()
  return {
    /** Returns false when the account already has a share of the conversation. */
    async insert(row: ShareRow): Promise<boolean> {
      const result = await db
        .insertInto('chat_shares')
        .values(row)
        .onConflict((c) => c.columns(['session_id', 'user_id']).doNothing())
        .executeTakeFirst()
      return Number(result.numInsertedOrUpdatedRows ?? 0) === 1
    },

    async list(sessionId: string): Promise<ShareRow[]> {
      return db
        .selectFrom('chat_shares')
        .selectAll()
        .where('session_id', '=', sessionId)
        .orderBy('created_at')
        .orderBy('id')
        .execute()
    },

    async countsOf(sessionIds: readonly string[]): Promise<Map<string, number>> {
      if (sessionIds.length === 0) return new Map()
      const rows = await db
        .selectFrom('chat_shares')
        .select(['session_id', (e) => e.fn.countAll<number>().as('total')])
        .where('session_id', 'in', [...sessionIds])
        .groupBy('session_id')
        .execute()
      return new Map(rows.map(({ session_id, total }) => [session_id, Number(total)]))
    },

    /** Returns the revoked share, or null when the conversation has no such share. */
    async remove(sessionId: string, id: string): Promise<ShareRow | null> {
      const row = await db
        .deleteFrom('chat_shares')
        .where('session_id', '=', sessionId)
        .where('id', '=', id)
        .returningAll()
        .executeTakeFirst()
      return row ?? null
    },

    /** Returns null for a share of another account. */
    async find(id: string, userId: string): Promise<ShareRow | null> {
      const row = await db
        .selectFrom('chat_shares')
        .selectAll()
        .where('id', '=', id)
        .where('user_id', '=', userId)
        .executeTakeFirst()
      return row ?? null
    },

    async listOf(userId: string, limit: number): Promise<ShareRow[]> {
      return db
        .selectFrom('chat_shares')
        .selectAll()
        .where('user_id', '=', userId)
        .orderBy('created_at', 'desc')
        .orderBy('id')
        .limit(limit)
        .execute()
    },
  }
}
