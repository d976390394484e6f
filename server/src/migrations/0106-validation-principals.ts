import type { Migration } from '../ports/database/port.ts'

/** A message and a validation prompt can have different authors, whose words run with their own rights. */
export const validationPrincipals: Migration = {
  name: '0106-validation-principals',
  async up(db) {
    await db.schema.alterTable('schedules').addColumn('validation_principal', 'text').execute()
  },
}
