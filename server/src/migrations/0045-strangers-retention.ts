import type { Migration } from '../ports/database/port.ts'

/** Retention of visitors of public links. The counters of the links stay. */
export const strangersRetention: Migration = {
  name: '0045-strangers-retention',
  async up(db) {
    await db.schema
      .alterTable('public_links')
      .addColumn('past_people', 'integer', (c) => c.notNull().defaultTo(0))
      .execute()
    // For the sweep, which reads the oldest of one kind.
    await db.schema
      .createIndex('chat_sessions_silent')
      .ifNotExists()
      .on('chat_sessions')
      .columns(['kind', 'last_message_at'])
      .execute()
  },
}
