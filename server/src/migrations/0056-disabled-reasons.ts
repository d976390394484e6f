import type { Migration } from '../ports/database/port.ts'

/** Why the platform disabled a schedule: its creator lost access to the agent. */
export const disabledReasons: Migration = {
  name: '0056-disabled-reasons',
  async up(db) {
    await db.schema.alterTable('schedules').addColumn('disabled_reason', 'text').execute()
  },
}
