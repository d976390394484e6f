import type { Migration } from '../ports/database/port.ts'

/** The OCI runtime of an agent; null: that of the installation. */
export const containerRuntime: Migration = {
  name: '0050-container-runtime',
  async up(db) {
    await db.schema.alterTable('agents').addColumn('container_runtime', 'text').execute()
  },
}
