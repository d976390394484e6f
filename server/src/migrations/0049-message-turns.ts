import { sql } from 'kysely'
import type { Migration } from '../ports/database/port.ts'

/** Pairs each question with its answer, even with several questions before the first answer. */
export const messageTurns: Migration = {
  name: '0049-message-turns',
  async up(db) {
    await db.schema
      .alterTable('chat_messages')
      .addColumn('turn', 'integer', (c) => c.notNull().defaultTo(0))
      .execute()
    await sql`update chat_messages set turn = position`.execute(db)
    const question = sql`select question.position from chat_messages as question
      where question.execution_id = chat_messages.execution_id and question.role = 'user'
        and question.session_id = chat_messages.session_id`
    await sql`update chat_messages set turn = (${question})
      where role = 'assistant' and execution_id is not null and exists (${question})`.execute(db)
    await db.schema
      .createIndex('chat_messages_turns')
      .ifNotExists()
      .on('chat_messages')
      .columns(['session_id', 'turn', 'position'])
      .execute()
  },
}
