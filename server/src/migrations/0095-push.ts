import type { Migration } from '../ports/database/port.ts'

/** Notifications on devices: the key of the installation, subscriptions of browsers, and what is not delivered yet. */
export const push: Migration = {
  name: '0095-push',
  async up(db) {
    await db.schema
      .createTable('push_keys')
      // At most one row.
      .addColumn('id', 'text', (c) => c.primaryKey())
      .addColumn('public_key', 'text', (c) => c.notNull())
      .addColumn('sealed_private_key', 'text', (c) => c.notNull())
      .addColumn('created_at', 'text', (c) => c.notNull())
      .execute()
    await db.schema
      .createTable('push_devices')
      .addColumn('id', 'text', (c) => c.primaryKey())
      .addColumn('user_id', 'text', (c) => c.notNull())
      // The session that stored it last; the device ends with the sign-out of this session.
      .addColumn('session_id', 'text', (c) => c.notNull())
      .addColumn('name', 'text', (c) => c.notNull())
      .addColumn('endpoint_hash', 'text', (c) => c.notNull().unique())
      // JSON of the endpoint and the browser's keys.
      .addColumn('sealed_target', 'text', (c) => c.notNull())
      .addColumn('created_at', 'text', (c) => c.notNull())
      .addColumn('seen_at', 'text', (c) => c.notNull())
      .addColumn('last_sent_at', 'text')
      .addColumn('last_error', 'text')
      .execute()
    await db.schema
      .createIndex('push_devices_user')
      .on('push_devices')
      .columns(['user_id', 'seen_at'])
      .execute()
    // New items of the inbox whose recipients are not decided yet.
    await db.schema
      .createTable('push_items')
      .addColumn('item_id', 'text', (c) => c.primaryKey())
      .addColumn('due_at', 'text', (c) => c.notNull())
      .addColumn('created_at', 'text', (c) => c.notNull())
      .execute()
    await db.schema
      .createTable('push_messages')
      .addColumn('device_id', 'text', (c) => c.notNull())
      .addColumn('item_id', 'text', (c) => c.notNull())
      .addColumn('attempts', 'integer', (c) => c.notNull())
      // A process claims a message by moving this time forward.
      .addColumn('due_at', 'text', (c) => c.notNull())
      .addColumn('expires_at', 'text', (c) => c.notNull())
      .addPrimaryKeyConstraint('push_messages_key', ['device_id', 'item_id'])
      .execute()
    await db.schema.createIndex('push_messages_due').on('push_messages').column('due_at').execute()
  },
}
