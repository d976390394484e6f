import type { Migration } from '../ports/database/port.ts'

/** The permissions matrix: one row for each agent that may call another. */
export const agentPermissions: Migration = {
  name: '0011-agent-permissions',
  async up(db) {
    await db.schema
      .createTable('agent_permissions')
      .ifNotExists()
      .addColumn('source_id', 'text', (c) => c.notNull().references('agents.id').onDelete('cascade'))
      .addColumn('target_id', 'text', (c) => c.notNull().references('agents.id').onDelete('cascade'))
      .addColumn('granted_by_id', 'text', (c) => c.notNull())
      .addColumn('created_at', 'text', (c) => c.notNull())
      .addPrimaryKeyConstraint('agent_permissions_pk', ['source_id', 'target_id'])
      .execute()
    await db.schema
      .createIndex('agent_permissions_target_id')
      .ifNotExists()
      .on('agent_permissions')
      .column('target_id')
      .execute()
  },
}
