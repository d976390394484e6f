import type { Migration } from '../ports/database/port.ts'

/** The engine that holds the container and the volumes of an agent; null: not recorded yet. */
export const engineIdentity: Migration = {
  name: '0090-engine-identity',
  async up(db) {
    for (const table of ['agents', 'agent_leftovers'])
      await db.schema.alterTable(table).addColumn('engine_id', 'text').execute()
  },
}
