import type { Migration } from '../ports/database/port.ts'

/** Agents that publish a folder, and agents that read the folders of others. */
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
