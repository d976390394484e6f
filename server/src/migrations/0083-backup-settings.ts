import type { Migration } from '../ports/database/port.ts'

/** Scheduled backups: where and when, with sealed secrets, and what was decided last. */
export const backupSettings: Migration = {
  name: '0083-backup-settings',
  async up(db) {
    await db.schema
      .createTable('backup_settings')
      .ifNotExists()
      // At most one row.
      .addColumn('id', 'text', (c) => c.primaryKey())
      .addColumn('enabled', 'integer', (c) => c.notNull())
      .addColumn('repository', 'text')
      .addColumn('cron_expression', 'text', (c) => c.notNull())
      .addColumn('timezone', 'text', (c) => c.notNull())
      .addColumn('verify_cron_expression', 'text')
      // JSON with daily, weekly and monthly; null keeps every snapshot.
      .addColumn('retention', 'text')
      .addColumn('sealed_passphrase', 'text')
      .addColumn('sealed_s3', 'text')
      .addColumn('sealed_sftp', 'text')
      // Due times up to here were run, skipped, or are older than the settings.
      .addColumn('backup_decided_at', 'text', (c) => c.notNull())
      .addColumn('verification_decided_at', 'text', (c) => c.notNull())
      // The attempt whose result the alert shows.
      .addColumn('backup_reported_at', 'text')
      .addColumn('verification_reported_at', 'text')
      .addColumn('updated_at', 'text', (c) => c.notNull())
      .execute()
  },
}
