import type { Migration } from '../ports/database/port.ts'

/** What must not be shown of an agent's credentials, sealed: the files themselves lie in its workspace. */
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
