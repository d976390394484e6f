import { sql } from 'kysely'
import type { Migration } from '../ports/database/port.ts'

/**
 * Retention of runs: when the transcript of a run was removed, and the indexes in which sweeps find old runs. Their
 * conditions name no column that changes while a run is open, because its updates must not affect more indexes.
 */
export const runRetention: Migration = {
  name: '0087-run-retention',
  async up(db) {
    await db.schema.alterTable('executions').addColumn('log_removed_at', 'text').execute()
    const ended = ['completed_at', 'id']
    await db.schema
      .createIndex('executions_ended')
      .on('executions')
      .columns(ended)
      .where(sql.ref('completed_at'), 'is not', null)
      .execute()
    await db.schema
      .createIndex('executions_logs')
      .on('executions')
      .columns(ended)
      .where(sql<boolean>`completed_at is not null and log_removed_at is null`)
      .execute()
    await db.schema
      .createIndex('workspace_deliveries_run')
      .on('workspace_deliveries')
      .columns(['execution_id'])
      .execute()
  },
}
