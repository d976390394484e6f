import { sql } from 'kysely'
import type { Migration } from '../ports/database/port.ts'

/** The model calls of each run, and the index that finds the runs that a run started. */
export const modelCalls: Migration = {
  name: '0097-model-calls',
  async up(db) {
    await db.schema
      .createTable('model_calls')
      .addColumn('execution_id', 'text', (c) => c.notNull())
      .addColumn('id', 'text', (c) => c.notNull())
      .addColumn('provider', 'text', (c) => c.notNull())
      .addColumn('model', 'text')
      .addColumn('status', 'integer')
      .addColumn('started_at', 'text', (c) => c.notNull())
      .addColumn('first_token_ms', 'integer')
      .addColumn('duration_ms', 'integer', (c) => c.notNull())
      .addColumn('input_tokens', 'integer', (c) => c.notNull())
      .addColumn('output_tokens', 'integer', (c) => c.notNull())
      .addColumn('cache_creation_tokens', 'integer', (c) => c.notNull())
      .addColumn('cache_read_tokens', 'integer', (c) => c.notNull())
      .addColumn('cost_micros', 'bigint', (c) => c.notNull())
      .addColumn('cost_estimated', 'integer', (c) => c.notNull())
      .addPrimaryKeyConstraint('model_calls_pk', ['execution_id', 'id'])
      .execute()
    await db.schema
      .createIndex('executions_parent')
      .on('executions')
      .columns(['parent_execution_id'])
      .where(sql.ref('parent_execution_id'), 'is not', null)
      .execute()
  },
}
