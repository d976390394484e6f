import type { Migration } from '../ports/database/port.ts'

/** One row: what a process must have to work with this database. */
export const installation: Migration = {
  name: '0086-installation',
  async up(db) {
    await db.schema
      .createTable('installation')
      .addColumn('name', 'text', (c) => c.primaryKey())
      .addColumn('install_id', 'text', (c) => c.notNull())
      .addColumn('key_id', 'text', (c) => c.notNull())
      .addColumn('recorded_at', 'text', (c) => c.notNull())
      .execute()
  },
}
