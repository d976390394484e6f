import { sql } from 'kysely'
import type { Migration } from '../ports/database/port.ts'

/** Restores of workspaces, the rules by which each record was made, and which runs are undone when they fail. */
export const workspaceRestores: Migration = {
  name: '0099-workspace-restores',
  async up(db) {
    // JSON `HistoryRules`. Null: the defaults.
    await db.schema.alterTable('workspace_records').addColumn('rules', 'text').execute()
    // Whether the run had the owner's rights.
    await db.schema
      .alterTable('run_workspace_records')
      .addColumn('by_owner', 'integer', (c) => c.notNull().defaultTo(0))
      .execute()
    for (const table of ['workspace_history_settings', 'schedules'])
      await db.schema
        .alterTable(table)
        .addColumn('undo_failed', 'integer', (c) => c.notNull().defaultTo(0))
        .execute()
    await db.schema
      .createTable('workspace_restores')
      .addColumn('id', 'text', (c) => c.primaryKey())
      .addColumn('agent_id', 'text', (c) => c.notNull().references('agents.id').onDelete('cascade'))
      // Retention may have removed it since.
      .addColumn('record_id', 'text', (c) => c.notNull())
      // JSON: bytes as characters.
      .addColumn('paths', 'text', (c) => c.notNull())
      .addColumn('asked_by', 'text', (c) => c.references('users.id').onDelete('set null'))
      // The failed run that it undoes by itself, and the run that validated it.
      .addColumn('run_id', 'text')
      .addColumn('validation_id', 'text')
      .addColumn('state', 'text', (c) => c.notNull())
      .addColumn('reason', 'text')
      .addColumn('message', 'text')
      .addColumn('added', 'integer', (c) => c.notNull())
      .addColumn('changed', 'integer', (c) => c.notNull())
      .addColumn('attributes', 'integer', (c) => c.notNull())
      .addColumn('deleted', 'integer', (c) => c.notNull())
      // JSON: the first paths with their reasons.
      .addColumn('conflicts', 'text', (c) => c.notNull())
      .addColumn('conflict_count', 'integer', (c) => c.notNull())
      .addColumn('before_id', 'text', (c) => c.references('workspace_records.id').onDelete('set null'))
      .addColumn('after_id', 'text', (c) => c.references('workspace_records.id').onDelete('set null'))
      // The process that works on it.
      .addColumn('runner', 'text')
      .addColumn('created_at', 'text', (c) => c.notNull())
      .addColumn('updated_at', 'text', (c) => c.notNull())
      .addColumn('ended_at', 'text')
      .execute()
    await db.schema
      .createIndex('workspace_restores_open')
      .unique()
      .on('workspace_restores')
      .column('agent_id')
      .where(sql.ref('ended_at'), 'is', null)
      .execute()
    for (const columns of [['agent_id', 'created_at'], ['before_id'], ['after_id']])
      await db.schema
        .createIndex(`workspace_restores_${columns.join('_')}`)
        .on('workspace_restores')
        .columns(columns)
        .execute()
  },
}
