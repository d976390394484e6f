import type { Migration } from '../ports/database/port.ts'

/** One row per running process, and since when a lease has its holder. */
export const replicas: Migration = {
  name: '0089-replicas',
  async up(db) {
    await db.schema
      .createTable('replicas')
      .addColumn('id', 'text', (c) => c.primaryKey())
      .addColumn('role', 'text', (c) => c.notNull())
      .addColumn('host_name', 'text', (c) => c.notNull())
      .addColumn('process_id', 'integer', (c) => c.notNull())
      .addColumn('version', 'text', (c) => c.notNull())
      .addColumn('git_commit', 'text')
      .addColumn('schema_version', 'text')
      .addColumn('agent_address', 'text')
      .addColumn('engine_id', 'text')
      .addColumn('started_at', 'text', (c) => c.notNull())
      .addColumn('seen_at', 'text', (c) => c.notNull())
      .execute()
    await db.schema.alterTable('leases').addColumn('acquired_at', 'text').execute()
  },
}
