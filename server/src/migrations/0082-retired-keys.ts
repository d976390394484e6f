import type { Migration } from '../ports/database/port.ts'

/** The former encryption keys, sealed by the current one. */
export const retiredKeys: Migration = {
  name: '0082-retired-keys',
  async up(db) {
    await db.schema
      .createTable('retired_keys')
      .addColumn('key_id', 'text', (c) => c.primaryKey())
      .addColumn('key_sealed', 'text', (c) => c.notNull())
      .addColumn('successor_id', 'text', (c) => c.notNull())
      .addColumn('retired_at', 'text', (c) => c.notNull())
      .addColumn('turns_until', 'text', (c) => c.notNull())
      .execute()
  },
}
