import type { Migration } from '../ports/database/port.ts'

/** Public links for chats without an account, and their visitors. */
export const publicChat: Migration = {
  name: '0033-public-chat',
  async up(db) {
    await db.schema
      .createTable('public_links')
      .ifNotExists()
      .addColumn('id', 'text', (c) => c.primaryKey())
      .addColumn('agent_id', 'text', (c) => c.notNull())
      .addColumn('token_hash', 'text', (c) => c.notNull().unique())
      .addColumn('token_sealed', 'text', (c) => c.notNull())
      .addColumn('name', 'text')
      .addColumn('enabled', 'integer', (c) => c.notNull())
      .addColumn('require_email', 'integer', (c) => c.notNull())
      .addColumn('expires_at', 'text')
      .addColumn('daily_message_limit', 'integer')
      .addColumn('created_by', 'text', (c) => c.notNull())
      .addColumn('created_at', 'text', (c) => c.notNull())
      .addColumn('total_messages', 'integer', (c) => c.notNull())
      .addColumn('last_used_at', 'text')
      // The day that `day_messages` counts.
      .addColumn('day', 'text')
      .addColumn('day_messages', 'integer', (c) => c.notNull())
      .execute()
    await db.schema
      .createTable('public_visitors')
      .ifNotExists()
      .addColumn('id', 'text', (c) => c.primaryKey())
      .addColumn('link_id', 'text', (c) => c.notNull().references('public_links.id').onDelete('cascade'))
      .addColumn('session_hash', 'text', (c) => c.unique())
      .addColumn('email', 'text')
      .addColumn('created_at', 'text', (c) => c.notNull())
      .addColumn('last_message_at', 'text')
      .addUniqueConstraint('public_visitors_address', ['link_id', 'email'])
      .execute()
    await db.schema
      .createTable('public_session_tokens')
      .ifNotExists()
      .addColumn('token_hash', 'text', (c) => c.primaryKey())
      .addColumn('visitor_id', 'text', (c) =>
        c.notNull().references('public_visitors.id').onDelete('cascade'),
      )
      .addColumn('expires_at', 'text', (c) => c.notNull())
      .execute()
    await db.schema
      .createTable('public_turns')
      .ifNotExists()
      .addColumn('execution_id', 'text', (c) => c.primaryKey())
      .addColumn('link_id', 'text', (c) => c.notNull().references('public_links.id').onDelete('cascade'))
      // Hash of the session token that started it; null for an open link.
      .addColumn('token_hash', 'text')
      .execute()
    const indexes = [
      ['public_links_agent', 'public_links', ['agent_id', 'created_at']],
      ['public_visitors_link', 'public_visitors', ['link_id']],
      ['public_session_tokens_visitor', 'public_session_tokens', ['visitor_id']],
      ['public_session_tokens_expiry', 'public_session_tokens', ['expires_at']],
      ['public_turns_link', 'public_turns', ['link_id']],
    ] as const
    for (const [name, table, columns] of indexes) {
      await db.schema
        .createIndex(name)
        .ifNotExists()
        .on(table)
        .columns([...columns])
        .execute()
    }
  },
}
