import type { Migration } from '../ports/database/port.ts'

/** Volumes with the content of a record, on which workspaces of other agents are layered. */
export const workspaceBases: Migration = {
  name: '0100-workspace-bases',
  async up(db) {
    await db.schema
      .createTable('workspace_bases')
      .addColumn('id', 'text', (c) => c.primaryKey())
      .addColumn('engine_id', 'text', (c) => c.notNull())
      // Not references: the volume stays while others are layered on it.
      .addColumn('agent_id', 'text', (c) => c.notNull())
      .addColumn('record_id', 'text', (c) => c.notNull())
      .addColumn('volume', 'text', (c) => c.notNull())
      // The volume that it is layered on itself: the base of an earlier record of the agent.
      .addColumn('on_volume', 'text')
      .addColumn('state', 'text', (c) => c.notNull())
      .addColumn('bytes', 'bigint', (c) => c.notNull())
      .addColumn('created_at', 'text', (c) => c.notNull())
      .addColumn('used_at', 'text', (c) => c.notNull())
      .execute()
    await db.schema
      .createIndex('workspace_bases_engine_record')
      .on('workspace_bases')
      .columns(['engine_id', 'record_id'])
      .execute()
  },
}
