import type { Migration } from '../ports/database/port.ts'

/** The boot that signed a session, sweeps that need an admin, avatars and connectors of agents. */
export const access: Migration = {
  name: '0021-access',
  async up(db) {
    // Existing sessions are invalid anyway, because the boot that signed them has ended.
    await db.schema.alterTable('sessions').addColumn('epoch', 'text').execute()
    await db.schema
      .createTable('retention_holds')
      .ifNotExists()
      .addColumn('key', 'text', (c) => c.primaryKey())
      .addColumn('window_days', 'integer', (c) => c.notNull())
      .addColumn('rows', 'integer', (c) => c.notNull())
      .addColumn('share_ppm', 'integer', (c) => c.notNull())
      .addColumn('computed_at', 'text', (c) => c.notNull())
      .addColumn('acknowledged_at', 'text')
      .execute()
    await db.schema
      .createTable('agent_avatars')
      .ifNotExists()
      .addColumn('agent_id', 'text', (c) => c.primaryKey().references('agents.id').onDelete('cascade'))
      .addColumn('media_type', 'text', (c) => c.notNull())
      .addColumn('data_base64', 'text', (c) => c.notNull())
      .addColumn('updated_at', 'text', (c) => c.notNull())
      .execute()
    await db.schema
      .createTable('agent_connectors')
      .ifNotExists()
      .addColumn('agent_id', 'text', (c) => c.primaryKey().references('agents.id').onDelete('cascade'))
      .addColumn('enabled', 'integer', (c) => c.notNull())
      .addColumn('expose_all_playbooks', 'integer', (c) => c.notNull())
      .addColumn('exposed_playbooks', 'text', (c) => c.notNull())
      .addColumn('updated_at', 'text', (c) => c.notNull())
      .execute()
  },
}
