import type { Migration } from '../ports/database/port.ts'

/** Batches of tasks with one combined result; their runs are executions. */
export const fanOuts: Migration = {
  name: '0006-fan-outs',
  async up(db) {
    await db.schema
      .createTable('fan_outs')
      .ifNotExists()
      .addColumn('id', 'text', (c) => c.primaryKey())
      .addColumn('agent_id', 'text', (c) => c.notNull())
      .addColumn('max_concurrency', 'integer', (c) => c.notNull())
      .addColumn('source_mcp_key_id', 'text')
      .addColumn('created_at', 'text', (c) => c.notNull())
      .addColumn('completed_at', 'text')
      .execute()
    await db.schema
      .createIndex('fan_outs_open')
      .ifNotExists()
      .on('fan_outs')
      .columns(['completed_at', 'id'])
      .execute()
    // Partial: most runs belong to no fan-out.
    await db.schema
      .createIndex('executions_fan_out')
      .ifNotExists()
      .on('executions')
      .columns(['fan_out_id', 'queue_number'])
      .where('fan_out_id', 'is not', null)
      .execute()
  },
}
