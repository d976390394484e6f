import type { Migration } from '../ports/database/port.ts'

/** Limits of an agent's spending on models. */
export const spendCaps: Migration = {
  name: '0032-spend-caps',
  async up(db) {
    await db.schema
      .createTable('spend_caps')
      .ifNotExists()
      .addColumn('agent_id', 'text', (c) => c.primaryKey().references('agents.id').onDelete('cascade'))
      .addColumn('daily_micros', 'bigint')
      .addColumn('per_run_micros', 'bigint')
      .addColumn('updated_at', 'text', (c) => c.notNull())
      .execute()
  },
}
