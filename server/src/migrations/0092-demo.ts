import type { Migration } from '../ports/database/port.ts'

/** One row per agent of the demo, so that each is created once. */
export const demo: Migration = {
  name: '0092-demo',
  async up(db) {
    await db.schema
      .createTable('demo_agents')
      .addColumn('name', 'text', (c) => c.primaryKey())
      .addColumn('agent_id', 'text')
      .addColumn('seeded_at', 'text', (c) => c.notNull())
      .addColumn('started_at', 'text')
      .addColumn('removed_at', 'text')
      .execute()
  },
}
