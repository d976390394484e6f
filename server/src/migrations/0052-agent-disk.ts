import type { Migration } from '../ports/database/port.ts'

/** Disk usage of agents, their quota and whether it is reached. */
export const agentDisk: Migration = {
  name: '0052-agent-disk',
  async up(db) {
    await db.schema.alterTable('agents').addColumn('disk_quota_bytes', 'bigint').execute()
    await db.schema
      .alterTable('agents')
      .addColumn('disk_state', 'text', (c) => c.notNull().defaultTo('ok'))
      .execute()
    await db.schema
      .createTable('agent_disk')
      .ifNotExists()
      .addColumn('agent_id', 'text', (c) => c.primaryKey().references('agents.id').onDelete('cascade'))
      .addColumn('reported_bytes', 'bigint')
      .addColumn('volume_bytes', 'bigint')
      .addColumn('container_bytes', 'bigint')
      .addColumn('measured_at', 'text', (c) => c.notNull())
      .execute()
  },
}
