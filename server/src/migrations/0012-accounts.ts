import type { Migration } from '../ports/database/port.ts'

/** Sign-in by e-mail, the second factor, preferences and git tokens. */
export const accounts: Migration = {
  name: '0012-accounts',
  async up(db) {
    await db.schema.alterTable('users').addColumn('mfa_enrolled_at', 'text').execute()

    await db.schema
      .createTable('allow_list')
      .ifNotExists()
      .addColumn('email', 'text', (c) => c.primaryKey())
      .addColumn('id', 'text', (c) => c.notNull().unique())
      .addColumn('default_role', 'text', (c) => c.notNull())
      .addColumn('source', 'text', (c) => c.notNull())
      .addColumn('added_by', 'text')
      .addColumn('added_at', 'text', (c) => c.notNull())
      .execute()

    await db.schema
      .createTable('email_codes')
      .ifNotExists()
      .addColumn('purpose', 'text', (c) => c.notNull())
      .addColumn('email', 'text', (c) => c.notNull())
      .addColumn('code_hash', 'text', (c) => c.notNull())
      .addColumn('wrong_tries', 'integer', (c) => c.notNull())
      .addColumn('expires_at', 'text', (c) => c.notNull())
      .addPrimaryKeyConstraint('email_codes_pk', ['purpose', 'email'])
      .execute()

    await db.schema
      .createTable('second_factors')
      .ifNotExists()
      .addColumn('user_id', 'text', (c) => c.primaryKey().references('users.id').onDelete('cascade'))
      .addColumn('sealed_secret', 'text', (c) => c.notNull())
      .addColumn('created_at', 'text', (c) => c.notNull())
      .addColumn('confirmed_at', 'text')
      .addColumn('last_step', 'integer')
      .execute()
    await db.schema
      .createTable('recovery_codes')
      .ifNotExists()
      .addColumn('user_id', 'text', (c) => c.notNull().references('users.id').onDelete('cascade'))
      .addColumn('code_hash', 'text', (c) => c.notNull())
      .addPrimaryKeyConstraint('recovery_codes_pk', ['user_id', 'code_hash'])
      .execute()
    await db.schema
      .createTable('sign_in_challenges')
      .ifNotExists()
      .addColumn('token_hash', 'text', (c) => c.primaryKey())
      .addColumn('user_id', 'text', (c) => c.notNull().references('users.id').onDelete('cascade'))
      .addColumn('mode', 'text', (c) => c.notNull())
      .addColumn('password_digest', 'text')
      .addColumn('tries', 'integer', (c) => c.notNull())
      .addColumn('expires_at', 'text', (c) => c.notNull())
      .execute()
    for (const column of ['user_id', 'expires_at'] as const) {
      await db.schema
        .createIndex(`sign_in_challenges_${column}`)
        .ifNotExists()
        .on('sign_in_challenges')
        .column(column)
        .execute()
    }

    await db.schema
      .createTable('preferences')
      .ifNotExists()
      .addColumn('user_id', 'text', (c) => c.notNull().references('users.id').onDelete('cascade'))
      .addColumn('key', 'text', (c) => c.notNull())
      .addColumn('value', 'text', (c) => c.notNull())
      .addColumn('updated_at', 'text', (c) => c.notNull())
      .addPrimaryKeyConstraint('preferences_pk', ['user_id', 'key'])
      .execute()
    await db.schema
      .createTable('git_tokens')
      .ifNotExists()
      .addColumn('user_id', 'text', (c) => c.primaryKey().references('users.id').onDelete('cascade'))
      .addColumn('sealed', 'text', (c) => c.notNull())
      .addColumn('updated_at', 'text', (c) => c.notNull())
      .execute()
  },
}
