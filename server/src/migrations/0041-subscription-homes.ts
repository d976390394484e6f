import type { Migration } from '../ports/database/port.ts'

/** Which subscription an agent goes back to, once its provider answers with it again. */
export const subscriptionHomes: Migration = {
  name: '0041-subscription-homes',
  async up(db) {
    // No reference: one that is deleted is not found, and nobody goes back to it.
    await db.schema.alterTable('agent_provider_subscriptions').addColumn('home_id', 'text').execute()
  },
}
