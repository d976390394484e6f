import type { Migration } from '../ports/database/port.ts'

/** What a request with an idempotency key created, so that a repeat can say that it is gone. */
export const idempotencyResources: Migration = {
  name: '0048-idempotency-resources',
  async up(db) {
    await db.schema.alterTable('idempotency_claims').addColumn('resource_id', 'text').execute()
  },
}
