import type { Migration } from '../ports/database/port.ts'

/** Workspaces that agents left on lost nodes, and restores that fill new ones. */
export const formerWorkspaces: Migration = {
  name: '0103-former-workspaces',
  async up(db) {
    await db.schema
      .alterTable('workspace_history_settings')
      .addColumn('start_from_record', 'integer', (c) => c.notNull().defaultTo(0))
      .execute()
    await db.schema
      .alterTable('workspace_restores')
      .addColumn('fills_new', 'integer', (c) => c.notNull().defaultTo(0))
      .execute()
    await db.schema
      .createTable('agent_former_workspaces')
      .addColumn('id', 'text', (c) => c.primaryKey())
      .addColumn('agent_id', 'text', (c) => c.notNull().references('agents.id').onDelete('cascade'))
      .addColumn('volume_base', 'text', (c) => c.notNull().unique())
      .addColumn('engine_id', 'text')
      // The last container that had it mounted.
      .addColumn('container_id', 'text', (c) => c.notNull())
      .addColumn('has_container', 'integer', (c) => c.notNull())
      // Retention may have removed it since.
      .addColumn('record_id', 'text')
      .addColumn('left_at', 'text', (c) => c.notNull())
      .execute()
    await db.schema
      .createIndex('agent_former_workspaces_agent')
      .on('agent_former_workspaces')
      .column('agent_id')
      .execute()
  },
}
