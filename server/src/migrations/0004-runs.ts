import type { Kysely } from 'kysely'
import type { Migration } from '../ports/database/port.ts'

/** Runs of all kinds, their transcripts, and data that a run needs until it ends. */
export const runs: Migration = {
  name: '0004-runs',
  async up(db) {
    await executions(db)
    await transcripts(db)
    await dispatch(db)
  },
}

async function executions(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('executions')
    .ifNotExists()
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('agent_id', 'text', (c) => c.notNull())
    .addColumn('agent_name', 'text', (c) => c.notNull())
    .addColumn('agent_deleted', 'integer', (c) => c.notNull().defaultTo(0))
    .addColumn('kind', 'text', (c) => c.notNull())
    .addColumn('status', 'text', (c) => c.notNull())
    .addColumn('triggered_by', 'text', (c) => c.notNull())
    .addColumn('message', 'text', (c) => c.notNull())
    .addColumn('request', 'text', (c) => c.notNull())
    // Time and order.
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addColumn('queued_at', 'text')
    .addColumn('queue_number', 'integer', (c) => c.notNull())
    .addColumn('is_bounded', 'integer', (c) => c.notNull())
    .addColumn('serial_key', 'text')
    .addColumn('started_at', 'text')
    .addColumn('spawned_at', 'text')
    .addColumn('completed_at', 'text')
    .addColumn('duration_ms', 'integer')
    // The agent's claim on the run.
    .addColumn('claim_token', 'integer')
    .addColumn('lease_expires_at', 'text')
    .addColumn('last_line', 'integer', (c) => c.notNull().defaultTo(0))
    .addColumn('line_offset', 'integer', (c) => c.notNull().defaultTo(0))
    .addColumn('restarts', 'integer', (c) => c.notNull().defaultTo(0))
    .addColumn('late_result_at', 'text')
    // As dispatched.
    .addColumn('timeout_seconds', 'integer', (c) => c.notNull())
    .addColumn('model', 'text')
    .addColumn('allowed_tools', 'text')
    // Usage.
    .addColumn('cost_micros', 'integer')
    .addColumn('metered_requests', 'integer', (c) => c.notNull().defaultTo(0))
    .addColumn('model_used', 'text')
    .addColumn('context_used', 'integer')
    .addColumn('context_max', 'integer')
    .addColumn('input_tokens', 'integer')
    .addColumn('output_tokens', 'integer')
    .addColumn('cache_creation_tokens', 'integer')
    .addColumn('cache_read_tokens', 'integer')
    // Result.
    .addColumn('response', 'text')
    .addColumn('error', 'text')
    .addColumn('error_code', 'text')
    .addColumn('terminal_reason', 'text')
    .addColumn('skip_reason', 'text')
    .addColumn('num_turns', 'integer')
    .addColumn('tool_count', 'integer')
    .addColumn('compact_events', 'text')
    .addColumn('runtime_session_id', 'text')
    // Retry and validation.
    .addColumn('attempt_number', 'integer', (c) => c.notNull().defaultTo(1))
    .addColumn('retry_of_execution_id', 'text')
    .addColumn('retry_scheduled_at', 'text')
    .addColumn('business_status', 'text')
    .addColumn('validated_at', 'text')
    .addColumn('validation_execution_id', 'text')
    .addColumn('validates_execution_id', 'text')
    .addColumn('validation_report', 'text')
    .addColumn('delivery', 'text')
    // Origin.
    .addColumn('schedule_id', 'text')
    .addColumn('fan_out_id', 'text')
    .addColumn('fan_out_task_id', 'text')
    .addColumn('loop_id', 'text')
    .addColumn('reminder_id', 'text')
    .addColumn('session_id', 'text')
    .addColumn('parent_execution_id', 'text')
    .addColumn('chain_depth', 'integer', (c) => c.notNull().defaultTo(0))
    .addColumn('source_user_id', 'text')
    .addColumn('source_user_email', 'text')
    .addColumn('source_agent_id', 'text')
    .addColumn('source_agent_name', 'text')
    .addColumn('source_mcp_key_id', 'text')
    .addColumn('source_mcp_key_name', 'text')
    .addColumn('source_mcp_scope', 'text')
    .execute()
  const indexes: Record<string, string[]> = {
    executions_agent: ['agent_id', 'created_at', 'queue_number'],
    executions_queue: ['agent_id', 'status', 'queued_at', 'queue_number'],
    executions_lease: ['status', 'lease_expires_at'],
    executions_waiting: ['status', 'queued_at'],
    executions_created: ['created_at'],
    executions_session: ['session_id', 'status'],
  }
  for (const [name, columns] of Object.entries(indexes)) {
    await db.schema.createIndex(name).ifNotExists().on('executions').columns(columns).execute()
  }
}

async function transcripts(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('execution_lines')
    .ifNotExists()
    .addColumn('execution_id', 'text', (c) => c.notNull())
    .addColumn('n', 'integer', (c) => c.notNull())
    .addColumn('line', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('execution_lines_pk', ['execution_id', 'n'])
    .execute()
  await db.schema
    .createTable('execution_tools')
    .ifNotExists()
    .addColumn('execution_id', 'text', (c) => c.notNull())
    .addColumn('tool_use_id', 'text', (c) => c.notNull())
    .addColumn('agent_id', 'text', (c) => c.notNull())
    .addColumn('n', 'integer', (c) => c.notNull())
    .addColumn('tool', 'text', (c) => c.notNull())
    .addColumn('input_summary', 'text', (c) => c.notNull())
    .addColumn('output_summary', 'text')
    .addColumn('success', 'integer')
    .addColumn('started_at', 'text', (c) => c.notNull())
    .addColumn('ended_at', 'text')
    .addColumn('duration_ms', 'integer')
    .addPrimaryKeyConstraint('execution_tools_pk', ['execution_id', 'tool_use_id'])
    .execute()
  await db.schema
    .createIndex('execution_tools_agent')
    .ifNotExists()
    .on('execution_tools')
    .columns(['agent_id', 'started_at'])
    .execute()
}

async function dispatch(db: Kysely<unknown>): Promise<void> {
  // One row per agent, locked to enqueue or claim a run. This keeps queue depth, order and slots exact with
  // several processes. Its number orders the queue and identifies claims.
  await db.schema
    .createTable('agent_queues')
    .ifNotExists()
    .addColumn('agent_id', 'text', (c) => c.primaryKey())
    .addColumn('last_number', 'integer', (c) => c.notNull())
    .execute()
  await db.schema
    .createTable('execution_attachments')
    .ifNotExists()
    .addColumn('execution_id', 'text', (c) => c.notNull())
    .addColumn('position', 'integer', (c) => c.notNull())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('mimetype', 'text', (c) => c.notNull())
    .addColumn('size', 'integer', (c) => c.notNull())
    .addColumn('data_base64', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('execution_attachments_pk', ['execution_id', 'position'])
    .execute()
}
