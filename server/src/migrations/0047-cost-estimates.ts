import { sql } from 'kysely'
import type { Migration } from '../ports/database/port.ts'

/**
 * Marks costs that contain an estimate. The mark is aggregated with the costs, so the covering indexes for
 * figures of runs include it.
 */
export const costEstimates: Migration = {
  name: '0047-cost-estimates',
  async up(db) {
    for (const table of ['executions', 'chat_sessions', 'chat_messages', 'provider_subscription_usage']) {
      await db.schema
        .alterTable(table)
        .addColumn('cost_estimated', 'integer', (c) => c.notNull().defaultTo(0))
        .execute()
    }
    for (const [name, columns] of Object.entries(indexes)) {
      await db.schema.dropIndex(name).ifExists().execute()
      const index = db.schema.createIndex(name).on('executions').columns(columns)
      // Partial: most runs belong to no schedule.
      const isOfSchedules = name === 'executions_schedule'
      await (isOfSchedules ? index.where(sql.ref('schedule_id'), 'is not', null) : index).execute()
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
  ],
  executions_schedule: [
    'schedule_id',
    'created_at',
    'queue_number',
    'id',
    'status',
    'triggered_by',
    'started_at',
    'duration_ms',
    'cost_micros',
    'cost_estimated',
    'tool_count',
  ],
}
