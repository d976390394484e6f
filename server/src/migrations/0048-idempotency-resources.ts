import type { Migration } from '../ports/database/port.ts'

/** The resource that a request with an idempotency key created, to report its deletion to a repeat. */
export const idempotencyResources: Migration = {
  name: '0048-idempotency-resources',
  async up(db) {
    await db.schema.alterTable('idempotency_claims').addColumn('resource_id', 'text').execute()
  },
}
