import type { Migration } from '../ports/database/port.ts'

/**
 * Saved views of the list of runs, and the columns of its filters in the indexes that cover them. Rows are long, so a
 * filter that reads them is slow.
 */
export const runFind: Migration = {
  name: '0093-run-find',
  async up(db) {
    await db.schema
      .createTable('run_views')
      .addColumn('id', 'text', (c) => c.primaryKey())
      .addColumn('user_id', 'text', (c) => c.notNull().references('users.id').onDelete('cascade'))
      .addColumn('name', 'text', (c) => c.notNull())
      .addColumn('query', 'text', (c) => c.notNull())
      .addColumn('is_shared', 'integer', (c) => c.notNull())
      .addColumn('created_at', 'text', (c) => c.notNull())
      .addColumn('updated_at', 'text', (c) => c.notNull())
      .addUniqueConstraint('run_views_name', ['user_id', 'name'])
      .execute()
    for (const [name, columns] of Object.entries(indexes)) {
      await db.schema.dropIndex(name).ifExists().execute()
      await db.schema.createIndex(name).on('executions').columns(columns).execute()
    }
  },
}

const indexes: Record<string, string[]> = {
  executions_figures: [
    'agent_id',
    'created_at',
    'queue_number',
    'id',
    'status',
    'triggered_by',
    'source_mcp_key_id',
    'duration_ms',
    'cost_micros',
    'cost_estimated',
    'context_used',
    'input_tokens',
    'output_tokens',
    'error_code',
    'model_used',
    'source_user_id',
  ],
  executions_fleet: [
    'created_at',
    'queue_number',
    'id',
    'agent_id',
    'status',
    'triggered_by',
    'source_mcp_key_id',
    'cost_micros',
    'cost_estimated',
    'error_code',
    'duration_ms',
    'input_tokens',
    'output_tokens',
    'model_used',
    'source_user_id',
  ],
}
