import type { Migration } from '../ports/database/port.ts'

/** Loops: messages that run repeatedly. Their runs are executions. */
export const loops: Migration = {
  name: '0016-loops',
  async up(db) {
    await db.schema
      .createTable('loops')
      .ifNotExists()
      .addColumn('id', 'text', (c) => c.primaryKey())
      .addColumn('agent_id', 'text', (c) => c.notNull())
      .addColumn('status', 'text', (c) => c.notNull())
      .addColumn('stop_reason', 'text')
      .addColumn('error', 'text')
      // The request.
      .addColumn('message', 'text', (c) => c.notNull())
      .addColumn('max_runs', 'integer', (c) => c.notNull())
      .addColumn('on_failure', 'text', (c) => c.notNull())
      .addColumn('max_consecutive_failures', 'integer', (c) => c.notNull())
      .addColumn('stop_signal', 'text')
      .addColumn('delay_seconds', 'integer', (c) => c.notNull())
      .addColumn('timeout_per_run', 'integer')
      .addColumn('max_duration_seconds', 'integer')
      .addColumn('max_cost_micros', 'integer')
      .addColumn('no_progress_threshold', 'integer', (c) => c.notNull())
      .addColumn('model', 'text')
      .addColumn('allowed_tools', 'text')
      // Progress.
      .addColumn('runs_completed', 'integer', (c) => c.notNull())
      .addColumn('open_execution_id', 'text')
      .addColumn('next_run_at', 'text')
      .addColumn('stop_requested_at', 'text')
      .addColumn('created_at', 'text', (c) => c.notNull())
      .addColumn('completed_at', 'text')
      // The source of all its runs.
      .addColumn('source', 'text', (c) => c.notNull())
      .addColumn('started_by', 'text', (c) => c.notNull())
      .addColumn('source_user_id', 'text')
      .addColumn('source_mcp_key_id', 'text')
      .addColumn('chain_depth', 'integer', (c) => c.notNull())
      .execute()
    await db.schema
      .createIndex('loops_agent')
      .ifNotExists()
      .on('loops')
      .columns(['agent_id', 'created_at'])
      .execute()
    await db.schema
      .createIndex('loops_open')
      .ifNotExists()
      .on('loops')
      .columns(['completed_at', 'next_run_at'])
      .execute()
    // Partial: most runs belong to no loop.
    await db.schema
      .createIndex('executions_loop')
      .ifNotExists()
      .on('executions')
      .columns(['loop_id', 'queue_number'])
      .where('loop_id', 'is not', null)
      .execute()
  },
}
