import { sql } from 'kysely'
import type { Migration } from '../ports/database/port.ts'

/**
 * Lists, counts and figures of runs are answered from two indexes that hold every column they look at: a row
 * is long, with its message and response, and must not be opened to be counted.
 */
export const runFigures: Migration = {
  name: '0009-run-figures',
  async up(db) {
    for (const [name, columns] of Object.entries(indexes)) {
      await db.schema.createIndex(name).ifNotExists().on('executions').columns(columns).execute()
    }
    // Runs of deleted agents are few and asked for by name.
    await db.schema
      .createIndex('executions_deleted')
      .ifNotExists()
      .on('executions')
      .columns(['agent_name', 'agent_id'])
      .where(sql.ref('agent_deleted'), '=', sql.lit(1))
      .execute()
    // Each is the beginning of one of the above.
    for (const name of ['executions_agent', 'executions_created']) {
      await db.schema.dropIndex(name).ifExists().execute()
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
    'context_used',
    'input_tokens',
    'output_tokens',
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
  ],
}
