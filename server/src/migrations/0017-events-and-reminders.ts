import type { Kysely } from 'kysely'
import type { Migration } from '../ports/database/port.ts'

/** Event subscriptions and reminders of agents. */
export const eventsAndReminders: Migration = {
  name: '0017-events-and-reminders',
  async up(db) {
    await subscriptions(db)
    await events(db)
    await reminders(db)
  },
}

async function subscriptions(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('event_subscriptions')
    .ifNotExists()
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('subscriber_agent_id', 'text', (c) => c.notNull())
    .addColumn('source_agent_id', 'text')
    // Empty for any source, because a unique index allows several nulls.
    .addColumn('source_key', 'text', (c) => c.notNull())
    .addColumn('event_type', 'text', (c) => c.notNull())
    .addColumn('target_message', 'text', (c) => c.notNull())
    .addColumn('enabled', 'integer', (c) => c.notNull())
    .addColumn('last_triggered_at', 'text')
    .addColumn('created_by', 'text', (c) => c.notNull())
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addColumn('updated_at', 'text', (c) => c.notNull())
    .execute()
  await db.schema
    .createIndex('event_subscriptions_triple')
    .ifNotExists()
    .unique()
    .on('event_subscriptions')
    .columns(['subscriber_agent_id', 'source_key', 'event_type'])
    .execute()
  await db.schema
    .createIndex('event_subscriptions_type')
    .ifNotExists()
    .on('event_subscriptions')
    .columns(['event_type', 'source_key', 'enabled'])
    .execute()
  await db.schema
    .createIndex('event_subscriptions_source')
    .ifNotExists()
    .on('event_subscriptions')
    .columns(['source_agent_id'])
    .execute()
}

async function events(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('agent_events')
    .ifNotExists()
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('source_agent', 'text', (c) => c.notNull())
    .addColumn('source_agent_id', 'text')
    .addColumn('source_user_id', 'text')
    .addColumn('event_type', 'text', (c) => c.notNull())
    .addColumn('payload', 'text')
    .addColumn('source', 'text', (c) => c.notNull())
    .addColumn('chain_depth', 'integer', (c) => c.notNull())
    .addColumn('subscriptions_triggered', 'integer')
    .addColumn('created_at', 'text', (c) => c.notNull())
    .execute()
  await db.schema
    .createIndex('agent_events_source')
    .ifNotExists()
    .on('agent_events')
    .columns(['source_agent_id', 'created_at'])
    .execute()
  await db.schema
    .createIndex('agent_events_created')
    .ifNotExists()
    .on('agent_events')
    .columns(['created_at'])
    .execute()
  await db.schema
    .createIndex('agent_events_open')
    .ifNotExists()
    .on('agent_events')
    .columns(['subscriptions_triggered'])
    .execute()
  await db.schema
    .createTable('agent_event_deliveries')
    .ifNotExists()
    .addColumn('event_id', 'text', (c) => c.notNull())
    .addColumn('subscription_id', 'text', (c) => c.notNull())
    .addColumn('agent_id', 'text', (c) => c.notNull())
    .addColumn('agent_name', 'text', (c) => c.notNull())
    .addColumn('state', 'text', (c) => c.notNull())
    .addColumn('execution_id', 'text')
    .addColumn('dropped', 'text')
    .addPrimaryKeyConstraint('agent_event_deliveries_pk', ['event_id', 'subscription_id'])
    .execute()
  await db.schema
    .createIndex('agent_event_deliveries_state')
    .ifNotExists()
    .on('agent_event_deliveries')
    .columns(['state', 'event_id'])
    .execute()
}

async function reminders(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('reminders')
    .ifNotExists()
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('agent_id', 'text', (c) => c.notNull())
    .addColumn('message', 'text', (c) => c.notNull())
    .addColumn('fire_at', 'text', (c) => c.notNull())
    .addColumn('status', 'text', (c) => c.notNull())
    .addColumn('model', 'text')
    .addColumn('timeout_seconds', 'integer')
    .addColumn('allowed_tools', 'text')
    .addColumn('origin_session_id', 'text')
    .addColumn('source', 'text', (c) => c.notNull())
    // Null for reminders that are not pending, and for those requested with a key.
    .addColumn('derived_key', 'text')
    .addColumn('execution_id', 'text')
    .addColumn('fire_attempts', 'integer', (c) => c.notNull())
    .addColumn('next_attempt_at', 'text', (c) => c.notNull())
    .addColumn('error', 'text')
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addColumn('fired_at', 'text')
    .addColumn('cancelled_at', 'text')
    .addColumn('deliver_until', 'text')
    .execute()
  const indexes: Record<string, string[]> = {
    reminders_due: ['status', 'next_attempt_at'],
    reminders_agent: ['agent_id', 'fire_at'],
    reminders_deliver: ['deliver_until'],
  }
  for (const [name, columns] of Object.entries(indexes)) {
    await db.schema.createIndex(name).ifNotExists().on('reminders').columns(columns).execute()
  }
  await db.schema
    .createIndex('reminders_derived')
    .ifNotExists()
    .unique()
    .on('reminders')
    .columns(['agent_id', 'derived_key'])
    .execute()
}
