import type { Migration } from '../ports/database/port.ts'

/** Sets of attempts at one task, records that wait for the choice of one, and restores that merge it. */
export const attempts: Migration = {
  name: '0102-attempts',
  async up(db) {
    await db.schema
      .createTable('attempt_sets')
      .addColumn('id', 'text', (c) => c.primaryKey())
      // The source of all forks.
      .addColumn('agent_id', 'text', (c) => c.notNull().references('agents.id').onDelete('cascade'))
      .addColumn('status', 'text', (c) => c.notNull())
      .addColumn('message', 'text')
      .addColumn('max_cost_micros', 'bigint', (c) => c.notNull())
      .addColumn('check_command', 'text')
      .addColumn('check_seconds', 'integer')
      .addColumn('pick', 'text', (c) => c.notNull())
      // JSON `RunOptions`.
      .addColumn('run_options', 'text', (c) => c.notNull())
      // JSON `Source`.
      .addColumn('source', 'text', (c) => c.notNull())
      .addColumn('base_record_id', 'text')
      .addColumn('kept_number', 'integer')
      // The restore that keeps it.
      .addColumn('restore_id', 'text')
      .addColumn('created_by', 'text', (c) => c.references('users.id').onDelete('set null'))
      .addColumn('created_at', 'text', (c) => c.notNull())
      .addColumn('updated_at', 'text', (c) => c.notNull())
      // When the last attempt ended.
      .addColumn('done_at', 'text')
      // When it was kept, discarded, or failed.
      .addColumn('ended_at', 'text')
      .execute()
    await db.schema
      .createIndex('attempt_sets_agent')
      .on('attempt_sets')
      .columns(['agent_id', 'created_at'])
      .execute()
    await db.schema.createIndex('attempt_sets_open').on('attempt_sets').column('ended_at').execute()
    await db.schema
      .createTable('attempts')
      .addColumn('set_id', 'text', (c) => c.notNull().references('attempt_sets.id').onDelete('cascade'))
      .addColumn('number', 'integer', (c) => c.notNull())
      .addColumn('status', 'text', (c) => c.notNull())
      .addColumn('runtime', 'text')
      .addColumn('model', 'text')
      .addColumn('message', 'text', (c) => c.notNull())
      // The fork; its name is chosen before it exists.
      .addColumn('agent_name', 'text')
      .addColumn('agent_id', 'text')
      .addColumn('execution_id', 'text')
      // A record of the source.
      .addColumn('record_id', 'text')
      // JSON: counts of changed files.
      .addColumn('changes', 'text')
      .addColumn('error', 'text')
      // JSON `CheckResult`.
      .addColumn('check_result', 'text')
      // Of all runs of the fork. Null until it is removed.
      .addColumn('cost_micros', 'bigint')
      .addColumn('cost_estimated', 'integer', (c) => c.notNull().defaultTo(0))
      .addColumn('updated_at', 'text', (c) => c.notNull())
      .addPrimaryKeyConstraint('attempts_key', ['set_id', 'number'])
      .execute()
    for (const column of ['agent_id', 'execution_id'])
      await db.schema.createIndex(`attempts_${column}`).on('attempts').column(column).execute()
    // The set that needs the record, until it has ended.
    await db.schema.alterTable('workspace_records').addColumn('attempt_set_id', 'text').execute()
    await db.schema
      .createIndex('workspace_records_attempt_set')
      .on('workspace_records')
      .column('attempt_set_id')
      .execute()
    // Only what differs between this record and the restored one is restored.
    await db.schema.alterTable('workspace_restores').addColumn('merge_base_id', 'text').execute()
    await db.schema
      .alterTable('workspace_restores')
      .addColumn('overwrite', 'integer', (c) => c.notNull().defaultTo(0))
      .execute()
  },
}
