import { sql } from 'kysely'
import type { Migration } from '../ports/database/port.ts'

/**
 * Two covering indexes for lists, counts and figures of runs. Rows are long because of message and response, so
 * these queries must not read them.
 */
export const runFigures: Migration = {
  name: '0009-run-figures',
  async up(db) {
    for (const [name, columns] of Object.entries(indexes)) {
      await db.schema.createIndex(name).ifNotExists().on('executions').columns(columns).execute()
    }
    // Partial: runs of deleted agents are few and looked up by name.
    await db.schema
      .createIndex('executions_deleted')
      .ifNotExists()
      .on('executions')
      .columns(['agent_name', 'agent_id'])
      .where(sql.ref('agent_deleted'), '=', sql.lit(1))
      .execute()
    // Each is a prefix of one of the indexes above.
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
