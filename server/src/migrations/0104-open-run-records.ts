import type { Migration } from '../ports/database/port.ts'

/** An agent that is busy without a pause has thousands of open rows; its claims need those that have not ended. */
export const openRunRecords: Migration = {
  name: '0104-open-run-records',
  async up(db) {
    await db.schema
      .createIndex('run_workspace_records_open')
      .on('run_workspace_records')
      .columns(['agent_id', 'outcome', 'ended_at'])
      .execute()
    await db.schema.dropIndex('run_workspace_records_agent').execute()
  },
}
