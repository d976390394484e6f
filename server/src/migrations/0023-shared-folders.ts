import type { Migration } from '../ports/database/port.ts'

/** Which agents publish a folder, and which read those of others. */
export const sharedFolders: Migration = {
  name: '0023-shared-folders',
  async up(db) {
    for (const column of ['expose_folder', 'consume_folders']) {
      await db.schema
        .alterTable('agents')
        .addColumn(column, 'integer', (c) => c.notNull().defaultTo(0))
        .execute()
    }
  },
}
