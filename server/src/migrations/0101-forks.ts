import type { Migration } from '../ports/database/port.ts'

/** What an agent was forked from, and the set of attempts that it belongs to. */
export const forks: Migration = {
  name: '0101-forks',
  async up(db) {
    // JSON `ForkedFrom`; the source may have been deleted since.
    await db.schema.alterTable('agents').addColumn('forked_from', 'text').execute()
    await db.schema.alterTable('agents').addColumn('attempt_set_id', 'text').execute()
    await db.schema.createIndex('agents_attempt_set').on('agents').column('attempt_set_id').execute()
  },
}
