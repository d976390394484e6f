import type { Executor } from '../../ports/database/port.ts'
import type { ChatTables } from './tables.ts'

/** Deletes conversations of people without an account: visitors of links, and payers. */
export function strangerSessionStore(executor: Executor) {
  const db = executor.withTables<ChatTables>()
  const strangerSessions = () => db.selectFrom('chat_sessions').where('kind', '=', 'public')
  /** Every such conversation begins with a message. */
  const inactiveSince = (before: string) => strangerSessions().where('last_message_at', '<', before)

  async function countOf(query: ReturnType<typeof strangerSessions>): Promise<number> {
    const row = await query.select((e) => e.fn.countAll<number>().as('total')).executeTakeFirstOrThrow()
    return Number(row.total)
  }

  return {
    countAll: () => countOf(strangerSessions()),
    countBefore: (before: string) => countOf(inactiveSince(before)),

    /**
     * Deletes at most `limit` conversations without messages since `before`, in a transaction. The condition is checked
     * again under the lock, so that a new message keeps its conversation.
     */
    async removeBefore(before: string, limit: number): Promise<number> {
      const locked = await db
        .updateTable('chat_sessions')
        .set((e) => ({ message_count: e.ref('message_count') }))
        .where('id', 'in', inactiveSince(before).select('id').limit(limit))
        .where('last_message_at', '<', before)
        .returning('id')
        .execute()
      if (locked.length === 0) return 0
      const ids = locked.map(({ id }) => id)
      await db.deleteFrom('chat_task_results').where('session_id', 'in', ids).execute()
      await db.deleteFrom('chat_messages').where('session_id', 'in', ids).execute()
      await db.deleteFrom('chat_sessions').where('id', 'in', ids).execute()
      return ids.length
    },
  }
}
