import type { Migration } from '../ports/database/port.ts'

/** Slack: the connected app, channels of agents, incoming events and outgoing posts. */
export const slack: Migration = {
  name: '0038-slack',
  async up(db) {
    await db.schema
      .createTable('slack_connections')
      .ifNotExists()
      // At most one row.
      .addColumn('id', 'text', (c) => c.primaryKey())
      .addColumn('team_id', 'text', (c) => c.notNull())
      .addColumn('workspace_name', 'text', (c) => c.notNull())
      .addColumn('bot_user_id', 'text', (c) => c.notNull())
      .addColumn('bot_user', 'text', (c) => c.notNull())
      .addColumn('sealed_signing_secret', 'text', (c) => c.notNull())
      .addColumn('sealed_bot_token', 'text', (c) => c.notNull())
      .addColumn('updated_at', 'text', (c) => c.notNull())
      .execute()
    await db.schema
      .createTable('slack_channels')
      .ifNotExists()
      .addColumn('agent_id', 'text', (c) => c.primaryKey().references('agents.id').onDelete('cascade'))
      .addColumn('channel_id', 'text', (c) => c.notNull().unique())
      .addColumn('channel_name', 'text')
      // 1 for the agent that answers direct messages, null for others. Unique: at most one such agent.
      .addColumn('dm_default', 'integer', (c) => c.unique())
      .addColumn('updated_at', 'text', (c) => c.notNull())
      .execute()
    await db.schema
      .createTable('slack_threads')
      .ifNotExists()
      .addColumn('session_id', 'text', (c) => c.primaryKey())
      .addColumn('agent_id', 'text', (c) => c.notNull().references('agents.id').onDelete('cascade'))
      .addColumn('channel_id', 'text', (c) => c.notNull())
      .addColumn('thread_ts', 'text', (c) => c.notNull())
      .addUniqueConstraint('slack_threads_place', ['agent_id', 'channel_id', 'thread_ts'])
      .execute()
    await db.schema
      .createTable('slack_events')
      .ifNotExists()
      .addColumn('event_id', 'text', (c) => c.primaryKey())
      .addColumn('channel_id', 'text', (c) => c.notNull())
      .addColumn('message_ts', 'text', (c) => c.notNull())
      .addColumn('received_at', 'text', (c) => c.notNull())
      // A mention in a bound channel arrives as two events of one message.
      .addUniqueConstraint('slack_events_message', ['channel_id', 'message_ts'])
      .execute()
    await db.schema
      .createTable('slack_posts')
      .ifNotExists()
      .addColumn('id', 'text', (c) => c.primaryKey())
      .addColumn('agent_id', 'text', (c) => c.notNull().references('agents.id').onDelete('cascade'))
      .addColumn('channel_id', 'text', (c) => c.notNull())
      .addColumn('thread_ts', 'text', (c) => c.notNull())
      .addColumn('execution_id', 'text')
      .addColumn('part', 'integer', (c) => c.notNull())
      .addColumn('text', 'text', (c) => c.notNull())
      .addColumn('state', 'text', (c) => c.notNull())
      .addColumn('attempts', 'integer', (c) => c.notNull())
      .addColumn('created_at', 'text', (c) => c.notNull())
      .addColumn('due_at', 'text', (c) => c.notNull())
      // A run has one answer.
      .addUniqueConstraint('slack_posts_part', ['execution_id', 'part'])
      .execute()
    await db.schema
      .createIndex('slack_posts_state')
      .ifNotExists()
      .on('slack_posts')
      .columns(['state', 'created_at'])
      .execute()
  },
}
