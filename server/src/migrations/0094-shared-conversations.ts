import type { Migration } from '../ports/database/port.ts'

/** Pinned, archived, branched and shared conversations, and the pictures of their messages. */
export const sharedConversations: Migration = {
  name: '0094-shared-conversations',
  async up(db) {
    for (const column of ['pinned_at', 'archived_at'])
      await db.schema.alterTable('chat_sessions').addColumn(column, 'text').execute()
    await db.schema.alterTable('chat_messages').addColumn('copied_execution_id', 'text').execute()
    await db.schema
      .createTable('chat_pictures')
      .addColumn('id', 'text', (c) => c.primaryKey())
      .addColumn('agent_id', 'text', (c) => c.notNull())
      .addColumn('holder_id', 'text', (c) => c.notNull())
      .addColumn('mimetype', 'text', (c) => c.notNull())
      .addColumn('size', 'integer', (c) => c.notNull())
      .addColumn('created_at', 'text', (c) => c.notNull())
      .addColumn('data_base64', 'text', (c) => c.notNull())
      .execute()
    await db.schema
      .createIndex('chat_pictures_holder')
      .on('chat_pictures')
      .columns(['agent_id', 'holder_id', 'created_at', 'id', 'size'])
      .execute()
    // A branch refers to the pictures of the original.
    await db.schema
      .createTable('chat_session_pictures')
      .addColumn('session_id', 'text', (c) => c.notNull().references('chat_sessions.id').onDelete('cascade'))
      .addColumn('picture_id', 'text', (c) => c.notNull().references('chat_pictures.id').onDelete('cascade'))
      .addPrimaryKeyConstraint('chat_session_pictures_pk', ['session_id', 'picture_id'])
      .execute()
    await db.schema
      .createIndex('chat_session_pictures_picture')
      .on('chat_session_pictures')
      .column('picture_id')
      .execute()
    await db.schema
      .createTable('chat_shares')
      .addColumn('id', 'text', (c) => c.primaryKey())
      .addColumn('session_id', 'text', (c) => c.notNull().references('chat_sessions.id').onDelete('cascade'))
      .addColumn('user_id', 'text', (c) => c.notNull().references('users.id').onDelete('cascade'))
      .addColumn('created_at', 'text', (c) => c.notNull())
      .addUniqueConstraint('chat_shares_account', ['session_id', 'user_id'])
      .execute()
    await db.schema.createIndex('chat_shares_user').on('chat_shares').column('user_id').execute()
  },
}
