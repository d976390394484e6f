import type { Migration } from '../ports/database/port.ts'

/** The Workspace: its sessions, the state of conversations, and results delivered into them. */
export const workspaceChat: Migration = {
  name: '0019-workspace-chat',
  async up(db) {
    await db.schema
      .createTable('workspace_sessions')
      .ifNotExists()
      .addColumn('token_hash', 'text', (c) => c.primaryKey())
      .addColumn('email', 'text', (c) => c.notNull())
      .addColumn('created_at', 'text', (c) => c.notNull())
      .addColumn('last_used_at', 'text', (c) => c.notNull())
      .addColumn('expires_at', 'text', (c) => c.notNull())
      .execute()
    await db.schema
      .createTable('workspace_chat_states')
      .ifNotExists()
      .addColumn('session_id', 'text', (c) =>
        c.primaryKey().references('chat_sessions.id').onDelete('cascade'),
      )
      .addColumn('starred', 'integer', (c) => c.notNull())
      .addColumn('read_position', 'integer', (c) => c.notNull())
      .execute()
    await db.schema
      .createTable('workspace_rating_comments')
      .ifNotExists()
      .addColumn('message_id', 'text', (c) =>
        c.primaryKey().references('chat_messages.id').onDelete('cascade'),
      )
      .addColumn('comment', 'text')
      .addColumn('rated_at', 'text', (c) => c.notNull())
      .execute()
    await db.schema
      .createTable('workspace_deliveries')
      .ifNotExists()
      .addColumn('key', 'text', (c) => c.primaryKey())
      .addColumn('agent_id', 'text', (c) => c.notNull())
      .addColumn('email', 'text')
      .addColumn('session_id', 'text')
      .addColumn('execution_id', 'text', (c) => c.notNull())
      .addColumn('source', 'text', (c) => c.notNull())
      .addColumn('content', 'text', (c) => c.notNull())
      .addColumn('status', 'text', (c) => c.notNull())
      .addColumn('error', 'text')
      .addColumn('message_id', 'text')
      .addColumn('created_at', 'text', (c) => c.notNull())
      .addColumn('due_at', 'text')
      .execute()
    await db.schema
      .createTable('workspace_blocks')
      .ifNotExists()
      .addColumn('agent_id', 'text', (c) => c.notNull())
      .addColumn('email', 'text', (c) => c.notNull())
      .addColumn('blocked_by', 'text', (c) => c.notNull())
      .addColumn('blocked_at', 'text', (c) => c.notNull())
      .addPrimaryKeyConstraint('workspace_blocks_pk', ['agent_id', 'email'])
      .execute()
    await db.schema
      .createTable('workspace_documents')
      .ifNotExists()
      .addColumn('id', 'text', (c) => c.primaryKey())
      .addColumn('agent_id', 'text', (c) => c.notNull())
      .addColumn('holder_id', 'text', (c) => c.notNull())
      .addColumn('filename', 'text', (c) => c.notNull())
      .addColumn('size_bytes', 'integer', (c) => c.notNull())
      .addColumn('path', 'text', (c) => c.notNull())
      .addColumn('created_at', 'text', (c) => c.notNull())
      .execute()
    const indexes = [
      ['workspace_sessions_email', 'workspace_sessions', ['email']],
      ['workspace_sessions_expiry', 'workspace_sessions', ['expires_at']],
      ['workspace_deliveries_due', 'workspace_deliveries', ['due_at']],
      ['workspace_deliveries_agent', 'workspace_deliveries', ['agent_id']],
      ['workspace_documents_holder', 'workspace_documents', ['agent_id', 'holder_id']],
      ['chat_sessions_of_holder', 'chat_sessions', ['holder_id', 'kind']],
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
