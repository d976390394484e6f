import type { Migration } from '../ports/database/port.ts'

/** Why an agent's container does not run although it should: pending at the scheduler, or on a lost node. */
export const containerWaiting: Migration = {
  name: '0088-container-waiting',
  async up(db) {
    await db.schema.alterTable('agents').addColumn('waiting', 'text').execute()
  },
}
