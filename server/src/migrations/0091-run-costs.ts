import { sql } from 'kysely'
import type { Migration } from '../ports/database/port.ts'

/** Covers the figures of the costs page. Partial: runs without a cost have no part in them. */
export const runCosts: Migration = {
  name: '0091-run-costs',
  async up(db) {
    await db.schema
      .createIndex('executions_costs')
      .ifNotExists()
      .on('executions')
      .columns([
        'created_at',
        'agent_id',
        'triggered_by',
        'source_mcp_key_id',
        'model_used',
        'source_user_id',
        'cost_micros',
        'cost_estimated',
        'id',
      ])
      .where(sql.ref('cost_micros'), '>', sql.lit(0))
      .execute()
  },
}
