import type { Migration } from '../ports/database/port.ts'

/** What a visitor of a public link reads before the first message. */
export const publicGreetings: Migration = {
  name: '0096-public-greetings',
  async up(db) {
    await db.schema.alterTable('public_links').addColumn('greeting', 'text').execute()
    // A JSON array of texts.
    await db.schema.alterTable('public_links').addColumn('starter_questions', 'text').execute()
  },
}
