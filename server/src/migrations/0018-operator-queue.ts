import type { Migration } from '../ports/database/port.ts'

/** Asks and alerts to people, and the responses. */
export const operatorQueue: Migration = {
  name: '0018-operator-queue',
  async up(db) {
    await db.schema
      .createTable('operator_items')
      .ifNotExists()
      .addColumn('id', 'text', (c) => c.primaryKey())
      .addColumn('agent_id', 'text')
      .addColumn('request_id', 'text')
      .addColumn('type', 'text', (c) => c.notNull())
      .addColumn('kind', 'text')
      .addColumn('pending_key', 'text', (c) => c.unique())
      .addColumn('status', 'text', (c) => c.notNull())
      .addColumn('priority', 'text', (c) => c.notNull())
      .addColumn('title', 'text', (c) => c.notNull())
      .addColumn('question', 'text')
      .addColumn('options', 'text', (c) => c.notNull())
      .addColumn('context', 'text', (c) => c.notNull())
      .addColumn('proposal', 'text')
      .addColumn('execution_id', 'text')
      .addColumn('addressed_to_email', 'text')
      .addColumn('created_at', 'text', (c) => c.notNull())
      .addColumn('expires_at', 'text')
      .addColumn('response', 'text')
      .addColumn('response_text', 'text')
      .addColumn('responded_by_id', 'text')
      .addColumn('responded_by_email', 'text')
      .addColumn('responded_at', 'text')
      .addColumn('acknowledged_at', 'text')
      .addColumn('disposition', 'text')
      .addColumn('disposition_reason', 'text')
      .addColumn('batch_id', 'text')
      .addColumn('source', 'text', (c) => c.notNull())
      .addColumn('entry_now', 'text')
      .addColumn('resume', 'text', (c) => c.notNull())
      .addColumn('cleared_at', 'text')
      .addUniqueConstraint('operator_items_request', ['agent_id', 'request_id'])
      .execute()
    const indexes = [
      ['created', ['created_at']],
      ['agent', ['agent_id', 'status']],
      ['expiry', ['status', 'expires_at']],
      ['resume', ['resume']],
      ['execution', ['execution_id']],
      ['addressed', ['addressed_to_email', 'status']],
    ] as const
    for (const [name, columns] of indexes) {
      await db.schema
        .createIndex(`operator_items_${name}`)
        .ifNotExists()
        .on('operator_items')
        .columns([...columns])
        .execute()
    }
  },
}
