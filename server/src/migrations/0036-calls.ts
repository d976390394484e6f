import type { Migration } from '../ports/database/port.ts'

/** Telephone calls of agents: the account for calls, and running and finished calls. */
export const calls: Migration = {
  name: '0036-calls',
  async up(db) {
    await db.schema
      .createTable('call_bindings')
      .ifNotExists()
      .addColumn('agent_id', 'text', (c) => c.primaryKey().references('agents.id').onDelete('cascade'))
      .addColumn('account_sid', 'text', (c) => c.notNull())
      .addColumn('auth_token', 'text', (c) => c.notNull())
      .addColumn('from_number', 'text', (c) => c.notNull())
      .addColumn('daily_call_cap', 'integer', (c) => c.notNull())
      .addColumn('display_name', 'text')
      .addColumn('enabled', 'integer', (c) => c.notNull())
      .addColumn('updated_at', 'text', (c) => c.notNull())
      .execute()
    await db.schema
      .createTable('calls')
      .ifNotExists()
      .addColumn('id', 'text', (c) => c.primaryKey())
      .addColumn('agent_id', 'text', (c) => c.notNull().references('agents.id').onDelete('cascade'))
      .addColumn('execution_id', 'text', (c) => c.notNull().unique())
      .addColumn('state', 'text', (c) => c.notNull())
      .addColumn('account_sid', 'text', (c) => c.notNull())
      .addColumn('auth_token', 'text')
      .addColumn('from_number', 'text', (c) => c.notNull())
      .addColumn('to_number', 'text', (c) => c.notNull())
      .addColumn('display_name', 'text')
      .addColumn('context', 'text')
      .addColumn('process_transcript', 'integer', (c) => c.notNull())
      .addColumn('dedup_label', 'text')
      .addColumn('is_counted', 'integer', (c) => c.notNull())
      .addColumn('source', 'text', (c) => c.notNull())
      .addColumn('ticket_hash', 'text')
      .addColumn('provider_call_id', 'text')
      .addColumn('is_over', 'integer', (c) => c.notNull())
      .addColumn('created_at', 'text', (c) => c.notNull())
      .addColumn('answered_at', 'text')
      .addColumn('ended_at', 'text')
      .addColumn('deadline_at', 'text')
      .addColumn('follow_up', 'text', (c) => c.notNull())
      .execute()
    const indexes = [
      ['calls_of_agent', ['agent_id', 'created_at']],
      ['calls_deadline', ['deadline_at']],
      ['calls_follow_up', ['follow_up', 'ended_at']],
    ] as const
    for (const [name, columns] of indexes) {
      await db.schema
        .createIndex(name)
        .ifNotExists()
        .on('calls')
        .columns([...columns])
        .execute()
    }
    await db.schema
      .createTable('call_lines')
      .ifNotExists()
      .addColumn('call_id', 'text', (c) => c.notNull().references('calls.id').onDelete('cascade'))
      .addColumn('n', 'integer', (c) => c.notNull())
      .addColumn('role', 'text', (c) => c.notNull())
      .addColumn('text', 'text', (c) => c.notNull())
      .addPrimaryKeyConstraint('call_lines_pk', ['call_id', 'n'])
      .execute()
  },
}
