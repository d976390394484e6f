import type { Migration } from '../ports/database/port.ts'

/** The commits before and after the last sync or pull with changes. */
export const gitChanges: Migration = {
  name: '0031-git-changes',
  async up(db) {
    for (const column of ['change_direction', 'change_from_sha', 'change_to_sha', 'change_at']) {
      await db.schema.alterTable('agent_git').addColumn(column, 'text').execute()
    }
  },
}
