import type { Migration } from '../ports/database/port.ts'

/** Visitors of public links are forgotten in time; their links go on counting them. */
export const strangersRetention: Migration = {
  name: '0045-strangers-retention',
  async up(db) {
    await db.schema
      .alterTable('public_links')
      .addColumn('past_people', 'integer', (c) => c.notNull().defaultTo(0))
      .execute()
    // The sweep asks for the oldest of one kind.
    await db.schema
      .createIndex('chat_sessions_silent')
      .ifNotExists()
      .on('chat_sessions')
      .columns(['kind', 'last_message_at'])
      .execute()
  },
}
