import type { Migration } from '../ports/database/port.ts'

/** Records of agents' workspaces, the records of each run, and the settings of an agent's history. */
export const workspaceRecords: Migration = {
  name: '0098-workspace-records',
  async up(db) {
    await db.schema
      .createTable('workspace_records')
      .addColumn('id', 'text', (c) => c.primaryKey())
      .addColumn('agent_id', 'text', (c) => c.notNull().references('agents.id').onDelete('cascade'))
      // Counts the records of the agent.
      .addColumn('number', 'integer', (c) => c.notNull())
      .addColumn('reason', 'text', (c) => c.notNull())
      .addColumn('created_at', 'text', (c) => c.notNull())
      // The record before it; retention may have removed that one.
      .addColumn('base_id', 'text')
      // The record that a restore or a fork was filled from.
      .addColumn('source_id', 'text')
      .addColumn('is_changed', 'integer', (c) => c.notNull())
      .addColumn('added', 'integer', (c) => c.notNull())
      .addColumn('changed', 'integer', (c) => c.notNull())
      .addColumn('deleted', 'integer', (c) => c.notNull())
      .addColumn('renamed', 'integer', (c) => c.notNull())
      .addColumn('received_bytes', 'bigint', (c) => c.notNull())
      // JSON: the first paths with their reasons.
      .addColumn('left_out', 'text', (c) => c.notNull())
      .addColumn('left_out_count', 'integer', (c) => c.notNull())
      .addColumn('pinned', 'integer', (c) => c.notNull())
      .addColumn('pinned_by', 'text', (c) => c.references('users.id').onDelete('set null'))
      .addUniqueConstraint('workspace_records_number', ['agent_id', 'number'])
      .execute()
    await db.schema
      .createIndex('workspace_records_age')
      .on('workspace_records')
      .columns(['pinned', 'created_at', 'id'])
      .execute()
    await db.schema
      .createTable('run_workspace_records')
      .addColumn('execution_id', 'text', (c) => c.primaryKey())
      .addColumn('agent_id', 'text', (c) => c.notNull().references('agents.id').onDelete('cascade'))
      .addColumn('outcome', 'text', (c) => c.notNull())
      .addColumn('reason', 'text')
      .addColumn('before_id', 'text', (c) => c.references('workspace_records.id').onDelete('set null'))
      .addColumn('after_id', 'text', (c) => c.references('workspace_records.id').onDelete('set null'))
      // JSON: ids of runs that overlapped with it and share its records.
      .addColumn('overlapped', 'text', (c) => c.notNull())
      .addColumn('overlapped_count', 'integer', (c) => c.notNull())
      .addColumn('started_at', 'text', (c) => c.notNull())
      .addColumn('ended_at', 'text')
      .execute()
    for (const column of ['before_id', 'after_id'])
      await db.schema
        .createIndex(`run_workspace_records_${column}`)
        .on('run_workspace_records')
        .column(column)
        .execute()
    await db.schema
      .createIndex('run_workspace_records_agent')
      .on('run_workspace_records')
      .columns(['agent_id', 'outcome'])
      .execute()
    await db.schema
      .createTable('workspace_history_settings')
      .addColumn('agent_id', 'text', (c) => c.primaryKey().references('agents.id').onDelete('cascade'))
      .addColumn('is_on', 'integer', (c) => c.notNull())
      // JSON `HistoryRules`; null for the defaults.
      .addColumn('rules', 'text')
      // Null for the installation's default.
      .addColumn('quota_bytes', 'bigint')
      .addColumn('updated_at', 'text', (c) => c.notNull())
      .execute()
  },
}
