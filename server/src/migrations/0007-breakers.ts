import type { Migration } from '../ports/database/port.ts'

/** The state of the agents' circuit breakers. An agent without a row has had no failures. */
export const breakers: Migration = {
  name: '0007-breakers',
  async up(db) {
    await db.schema
      .createTable('breakers')
      .ifNotExists()
      .addColumn('agent_id', 'text', (c) => c.notNull())
      .addColumn('kind', 'text', (c) => c.notNull())
      .addColumn('failure_count', 'integer', (c) => c.notNull())
      .addColumn('failed_at', 'text', (c) => c.notNull())
      .addColumn('openings', 'integer', (c) => c.notNull())
      .addColumn('retry_at', 'text')
      .addColumn('probe_execution_id', 'text')
      .addPrimaryKeyConstraint('breakers_pk', ['agent_id', 'kind'])
      .execute()
  },
}
