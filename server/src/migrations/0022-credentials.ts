import type { Migration } from '../ports/database/port.ts'

/** Encrypted values to mask from an agent's credentials. The files are in its workspace. */
export const credentials: Migration = {
  name: '0022-credentials',
  async up(db) {
    await db.schema
      .createTable('agent_credentials')
      .ifNotExists()
      .addColumn('agent_id', 'text', (c) => c.primaryKey().references('agents.id').onDelete('cascade'))
      .addColumn('secrets_sealed', 'text', (c) => c.notNull())
      .addColumn('updated_at', 'text', (c) => c.notNull())
      .execute()
  },
}
