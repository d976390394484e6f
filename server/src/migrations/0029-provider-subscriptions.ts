import type { Migration } from '../ports/database/port.ts'

/** Shared credentials of model providers, their assignment to agents, and their usage. */
export const providerSubscriptions: Migration = {
  name: '0029-provider-subscriptions',
  async up(db) {
    await db.schema
      .createTable('provider_subscriptions')
      .ifNotExists()
      .addColumn('id', 'text', (c) => c.primaryKey())
      .addColumn('name', 'text', (c) => c.notNull().unique())
      .addColumn('provider', 'text', (c) => c.notNull())
      .addColumn('sealed_token', 'text', (c) => c.notNull())
      .addColumn('subscription_type', 'text')
      .addColumn('rate_limit_tier', 'text')
      .addColumn('limited_until', 'text')
      .addColumn('refused_until', 'text')
      .addColumn('created_at', 'text', (c) => c.notNull())
      .addColumn('updated_at', 'text', (c) => c.notNull())
      .execute()

    await db.schema
      .createTable('agent_provider_subscriptions')
      .ifNotExists()
      .addColumn('agent_id', 'text', (c) => c.primaryKey().references('agents.id').onDelete('cascade'))
      .addColumn('subscription_id', 'text', (c) =>
        c.notNull().references('provider_subscriptions.id').onDelete('cascade'),
      )
      .addColumn('assigned_at', 'text', (c) => c.notNull())
      .execute()
    await db.schema
      .createIndex('agent_provider_subscriptions_of')
      .ifNotExists()
      .on('agent_provider_subscriptions')
      .column('subscription_id')
      .execute()

    await db.schema
      .createTable('provider_subscription_usage')
      .ifNotExists()
      .addColumn('subscription_id', 'text', (c) =>
        c.notNull().references('provider_subscriptions.id').onDelete('cascade'),
      )
      .addColumn('began_at', 'text', (c) => c.notNull())
      .addColumn('requests', 'integer', (c) => c.notNull())
      .addColumn('input_tokens', 'bigint', (c) => c.notNull())
      .addColumn('output_tokens', 'bigint', (c) => c.notNull())
      .addColumn('cost_micros', 'bigint', (c) => c.notNull())
      .addColumn('failures', 'integer', (c) => c.notNull())
      .addPrimaryKeyConstraint('provider_subscription_usage_pk', ['subscription_id', 'began_at'])
      .execute()
  },
}
