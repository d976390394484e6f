import type { Migration } from '../ports/database/port.ts'

/** Data that decides at delivery who sees an event, besides the agents that it names. */
export const sockets: Migration = {
  name: '0010-sockets',
  async up(db) {
    await db.schema.alterTable('outbox').addColumn('reserved', 'text').execute()
    await db.schema.alterTable('outbox').addColumn('seen_by', 'text').execute()
  },
}
