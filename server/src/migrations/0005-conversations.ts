import type { Migration } from '../ports/database/port.ts'

/** Conversations of people with agents: sessions and their messages. */
export const conversations: Migration = {
  name: '0005-conversations',
  async up(db) {
    await db.schema
      .createTable('chat_sessions')
      .ifNotExists()
      .addColumn('id', 'text', (c) => c.primaryKey())
      .addColumn('agent_id', 'text', (c) => c.notNull())
      .addColumn('holder_id', 'text', (c) => c.notNull())
      .addColumn('user_id', 'text', (c) => c.notNull())
      .addColumn('user_email', 'text')
      .addColumn('title', 'text')
      .addColumn('kind', 'text', (c) => c.notNull())
      .addColumn('status', 'text', (c) => c.notNull())
      // Agent and holder if this is their current session, else null. Unique: at most one current session.
      .addColumn('current_key', 'text', (c) => c.unique())
      .addColumn('started_at', 'text', (c) => c.notNull())
      .addColumn('last_message_at', 'text')
      .addColumn('closed_at', 'text')
      .addColumn('message_count', 'integer', (c) => c.notNull())
      .addColumn('total_cost_micros', 'integer', (c) => c.notNull())
      .addColumn('context_used', 'integer', (c) => c.notNull())
      .addColumn('context_max', 'integer', (c) => c.notNull())
      .addColumn('runtime_session_id', 'text')
      .addColumn('remembers_from', 'integer', (c) => c.notNull())
      .execute()
    await db.schema
      .createIndex('chat_sessions_holder')
      .ifNotExists()
      .on('chat_sessions')
      .columns(['agent_id', 'holder_id', 'started_at'])
      .execute()
    await db.schema
      .createTable('chat_messages')
      .ifNotExists()
      .addColumn('id', 'text', (c) => c.primaryKey())
      .addColumn('session_id', 'text', (c) => c.notNull().references('chat_sessions.id').onDelete('cascade'))
      .addColumn('position', 'integer', (c) => c.notNull())
      .addColumn('role', 'text', (c) => c.notNull())
      .addColumn('content', 'text', (c) => c.notNull())
      .addColumn('timestamp', 'text', (c) => c.notNull())
      .addColumn('source', 'text', (c) => c.notNull())
      .addColumn('execution_id', 'text')
      .addColumn('cost_micros', 'integer')
      .addColumn('context_used', 'integer')
      .addColumn('context_max', 'integer')
      .addColumn('tool_calls', 'text')
      .addColumn('execution_time_ms', 'integer')
      .addColumn('output_tokens', 'integer')
      .addColumn('files', 'text')
      .addColumn('error_code', 'text')
      .addColumn('rating', 'text')
      .addUniqueConstraint('chat_messages_place', ['session_id', 'position'])
      // A run has one question and one answer.
      .addUniqueConstraint('chat_messages_run', ['execution_id', 'role'])
      .execute()
  },
}
