import type { Migration } from '../ports/database/port.ts'

/** Notifications and reports of agents, and evaluations of agents by people. */
export const messages: Migration = {
  name: '0027-messages',
  async up(db) {
    await db.schema
      .createTable('notifications')
      .ifNotExists()
      .addColumn('id', 'text', (c) => c.primaryKey())
      .addColumn('agent_id', 'text', (c) => c.notNull().references('agents.id').onDelete('cascade'))
      .addColumn('notification_type', 'text', (c) => c.notNull())
      .addColumn('title', 'text', (c) => c.notNull())
      .addColumn('message', 'text')
      .addColumn('priority', 'text', (c) => c.notNull())
      .addColumn('category', 'text')
      .addColumn('metadata', 'text')
      .addColumn('status', 'text', (c) => c.notNull())
      .addColumn('created_at', 'text', (c) => c.notNull())
      .addColumn('acknowledged_at', 'text')
      .addColumn('acknowledged_by', 'text')
      .execute()
    await db.schema
      .createTable('agent_reports')
      .ifNotExists()
      .addColumn('id', 'text', (c) => c.primaryKey())
      .addColumn('agent_id', 'text', (c) => c.notNull().references('agents.id').onDelete('cascade'))
      .addColumn('report_type', 'text', (c) => c.notNull())
      .addColumn('title', 'text', (c) => c.notNull())
      .addColumn('display_hint', 'text')
      .addColumn('period_start', 'text')
      .addColumn('period_end', 'text')
      .addColumn('audience', 'text', (c) => c.notNull())
      .addColumn('execution_id', 'text')
      .addColumn('created_at', 'text', (c) => c.notNull())
      .addColumn('payload_bytes', 'integer', (c) => c.notNull())
      // The last column, so that lists do not read its pages.
      .addColumn('payload', 'text', (c) => c.notNull())
      .execute()
    await db.schema
      .createTable('agent_evaluations')
      .ifNotExists()
      .addColumn('id', 'text', (c) => c.primaryKey())
      .addColumn('agent_id', 'text', (c) => c.notNull().references('agents.id').onDelete('cascade'))
      .addColumn('score', 'integer', (c) => c.notNull())
      .addColumn('verdict', 'text')
      .addColumn('notes', 'text')
      .addColumn('execution_id', 'text')
      .addColumn('created_by', 'text', (c) => c.notNull())
      .addColumn('created_at', 'text', (c) => c.notNull())
      .execute()
    const indexes = [
      ['notifications', 'agent', ['agent_id', 'created_at']],
      ['notifications', 'created', ['created_at']],
      ['agent_reports', 'agent', ['agent_id', 'created_at']],
      ['agent_reports', 'created', ['created_at']],
      ['agent_evaluations', 'agent', ['agent_id', 'created_at']],
    ] as const
    for (const [table, name, columns] of indexes) {
      await db.schema
        .createIndex(`${table}_${name}`)
        .ifNotExists()
        .on(table)
        .columns([...columns])
        .execute()
    }
  },
}
