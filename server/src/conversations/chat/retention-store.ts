import type { Executor } from '../../ports/database/port.ts'
import type { ChatTables } from './tables.ts'

/** What is removed of the conversations of people without an account: visitors of links, and payers. */
export function strangersStore(executor: Executor) {
  const db = executor.withTables<ChatTables>()
  const all = () => db.selectFrom('chat_sessions').where('kind', '=', 'public')
  /** Such a conversation begins with a message. */
  const silentSince = (before: string) => all().where('last_message_at', '<', before)

  async function counted(query: ReturnType<typeof all>): Promise<number> {
    const row = await query.select((e) => e.fn.countAll<number>().as('total')).executeTakeFirstOrThrow()
    return Number(row.total)
  }

  return {
    countAll: () => counted(all()),
    countBefore: (before: string) => counted(silentSince(before)),

    /**
     * Removes at most `limit` conversations in which nothing was said since `before`, in a transaction. One in which
     * somebody says something at this moment stays: it is looked at again once it is held.
     */
    async removeBefore(before: string, limit: number): Promise<number> {
      const held = await db
        .updateTable('chat_sessions')
        .set((e) => ({ message_count: e.ref('message_count') }))
        .where('id', 'in', silentSince(before).select('id').limit(limit))
        .where('last_message_at', '<', before)
        .returning('id')
        .execute()
      if (held.length === 0) return 0
      const ids = held.map(({ id }) => id)
      await db.deleteFrom('chat_task_results').where('session_id', 'in', ids).execute()
      await db.deleteFrom('chat_messages').where('session_id', 'in', ids).execute()
      await db.deleteFrom('chat_sessions').where('id', 'in', ids).execute()
      return ids.length
    },
  }
}
