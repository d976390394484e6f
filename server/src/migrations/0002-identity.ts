import type { Migration } from '../ports/database/port.ts'

export const identity: Migration = {
  name: '0002-identity',
  async up(db) {
    await db.schema
      .createTable('users')
      .ifNotExists()
      .addColumn('id', 'text', (c) => c.primaryKey())
      .addColumn('username', 'text', (c) => c.notNull().unique())
      .addColumn('email', 'text')
      .addColumn('name', 'text')
      .addColumn('picture', 'text')
      .addColumn('role', 'text', (c) => c.notNull())
      .addColumn('password_hash', 'text')
      .addColumn('created_at', 'text', (c) => c.notNull())
      .addColumn('last_login_at', 'text')
      .addColumn('suspended_at', 'text')
      .execute()
    // User names and e-mail addresses share one namespace of logins.
    await db.schema
      .createTable('user_logins')
      .ifNotExists()
      .addColumn('login', 'text', (c) => c.primaryKey())
      .addColumn('user_id', 'text', (c) => c.notNull().references('users.id').onDelete('cascade'))
      .execute()
    await db.schema
      .createIndex('user_logins_user_id')
      .ifNotExists()
      .on('user_logins')
      .column('user_id')
      .execute()

    await db.schema
      .createTable('sessions')
      .ifNotExists()
      .addColumn('jti', 'text', (c) => c.primaryKey())
      .addColumn('user_id', 'text', (c) => c.notNull().references('users.id').onDelete('cascade'))
      .addColumn('mode', 'text', (c) => c.notNull())
      .addColumn('created_at', 'text', (c) => c.notNull())
      .addColumn('expires_at', 'text', (c) => c.notNull())
      .addColumn('revoked_at', 'text')
      .execute()
    for (const column of ['user_id', 'expires_at'] as const) {
      await db.schema.createIndex(`sessions_${column}`).ifNotExists().on('sessions').column(column).execute()
    }

    await db.schema
      .createTable('mcp_keys')
      .ifNotExists()
      .addColumn('id', 'text', (c) => c.primaryKey())
      .addColumn('user_id', 'text', (c) => c.notNull().references('users.id').onDelete('cascade'))
      .addColumn('agent_id', 'text')
      .addColumn('name', 'text', (c) => c.notNull())
      .addColumn('description', 'text')
      .addColumn('scope', 'text', (c) => c.notNull())
      .addColumn('key_hash', 'text', (c) => c.notNull().unique())
      .addColumn('key_prefix', 'text', (c) => c.notNull())
      .addColumn('created_at', 'text', (c) => c.notNull())
      .addColumn('expires_at', 'text')
      .addColumn('revoked_at', 'text')
      .addColumn('last_used_at', 'text')
      .addColumn('usage_count', 'integer', (c) => c.notNull())
      // The user's id in at most one key, which makes the default key unique.
      .addColumn('default_of', 'text', (c) => c.unique())
      .execute()
    for (const column of ['user_id', 'agent_id'] as const) {
      await db.schema.createIndex(`mcp_keys_${column}`).ifNotExists().on('mcp_keys').column(column).execute()
    }
  },
}
