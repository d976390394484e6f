import type { Migration } from '../ports/database/port.ts'

/** Voices of agents, calls, and the call of a message. */
export const voice: Migration = {
  name: '0035-voice',
  async up(db) {
    await db.schema.alterTable('chat_messages').addColumn('voice_call_id', 'text').execute()
    await db.schema
      .createTable('agent_voices')
      .ifNotExists()
      .addColumn('agent_id', 'text', (c) => c.primaryKey().references('agents.id').onDelete('cascade'))
      .addColumn('prompt', 'text')
      .addColumn('voice_name', 'text')
      .addColumn('updated_at', 'text', (c) => c.notNull())
      .execute()
    await db.schema
      .createTable('voice_calls')
      .ifNotExists()
      .addColumn('id', 'text', (c) => c.primaryKey())
      .addColumn('agent_id', 'text', (c) => c.notNull().references('agents.id').onDelete('cascade'))
      .addColumn('session_id', 'text', (c) => c.notNull())
      .addColumn('holder_id', 'text', (c) => c.notNull())
      .addColumn('voice_name', 'text', (c) => c.notNull())
      .addColumn('created_at', 'text', (c) => c.notNull())
      .addColumn('connected_at', 'text')
      .addColumn('ends_at', 'text', (c) => c.notNull())
      .addColumn('ended_at', 'text')
      .addColumn('end_reason', 'text')
      .execute()
    await db.schema
      .createIndex('voice_calls_agent')
      .ifNotExists()
      .on('voice_calls')
      .columns(['agent_id', 'holder_id'])
      .execute()
    await db.schema
      .createIndex('voice_calls_ends')
      .ifNotExists()
      .on('voice_calls')
      .columns(['ended_at', 'ends_at'])
      .execute()
    await db.schema
      .createTable('voice_asks')
      .ifNotExists()
      .addColumn('execution_id', 'text', (c) => c.primaryKey())
      .addColumn('call_id', 'text', (c) => c.notNull().references('voice_calls.id').onDelete('cascade'))
      .addColumn('is_answered', 'integer', (c) => c.notNull())
      .execute()
    await db.schema.createIndex('voice_asks_call').ifNotExists().on('voice_asks').column('call_id').execute()
  },
}
