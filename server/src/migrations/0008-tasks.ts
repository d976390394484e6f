import type { Migration } from '../ports/database/port.ts'

/** Messages of tasks in conversations, and the request digest for reused idempotency keys. */
export const tasks: Migration = {
  name: '0008-tasks',
  async up(db) {
    await db.schema.alterTable('idempotency_claims').addColumn('body_digest', 'text').execute()
    // Stored in addition to the runtime's own memory of the conversation.
    await db.schema
      .alterTable('chat_messages')
      .addColumn('is_aside', 'integer', (c) => c.notNull().defaultTo(0))
      .execute()
    await db.schema
      .createTable('chat_task_results')
      .ifNotExists()
      .addColumn('execution_id', 'text', (c) => c.primaryKey())
      .addColumn('session_id', 'text', (c) => c.notNull().references('chat_sessions.id').onDelete('cascade'))
      .execute()
    await db.schema
      .createIndex('chat_task_results_session')
      .ifNotExists()
      .on('chat_task_results')
      .column('session_id')
      .execute()
  },
}
