import type { Migration } from '../ports/database/port.ts'

/** Between which commits the last sync or pull that changed something has moved. */
export const gitChanges: Migration = {
  name: '0031-git-changes',
  async up(db) {
    for (const column of ['change_direction', 'change_from_sha', 'change_to_sha', 'change_at']) {
      await db.schema.alterTable('agent_git').addColumn(column, 'text').execute()
    }
  },
}
