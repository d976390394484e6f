import type { Migration } from '../ports/database/port.ts'

/** The health of agents: the result of each check and the current state. */
export const monitoring: Migration = {
  name: '0028-monitoring',
  async up(db) {
    await db.schema
      .createTable('health_checks')
      .ifNotExists()
      .addColumn('agent_id', 'text', (c) => c.notNull())
      .addColumn('checked_at', 'text', (c) => c.notNull())
      .addColumn('status', 'text', (c) => c.notNull())
      .addColumn('container_status', 'text', (c) => c.notNull())
      .addColumn('cpu_percent', 'double precision')
      .addColumn('memory_percent', 'double precision')
      .addColumn('issues', 'text', (c) => c.notNull())
      .addPrimaryKeyConstraint('health_checks_key', ['agent_id', 'checked_at'])
      .execute()
    // For the sweep by age.
    await db.schema
      .createIndex('health_checks_age')
      .ifNotExists()
      .on('health_checks')
      .column('checked_at')
      .execute()
    await db.schema
      .createTable('agent_health')
      .ifNotExists()
      .addColumn('agent_id', 'text', (c) => c.primaryKey())
      .addColumn('status', 'text', (c) => c.notNull())
      .addColumn('checked_at', 'text', (c) => c.notNull())
      .addColumn('latency_ms', 'integer')
      .execute()
  },
}
