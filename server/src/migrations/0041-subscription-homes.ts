import type { Migration } from '../ports/database/port.ts'

/** The subscription to which an agent returns once its provider accepts it again. */
export const subscriptionHomes: Migration = {
  name: '0041-subscription-homes',
  async up(db) {
    // No foreign key: a deleted subscription is ignored.
    await db.schema.alterTable('agent_provider_subscriptions').addColumn('home_id', 'text').execute()
  },
}
