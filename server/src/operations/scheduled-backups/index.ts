/**
 * Scheduled backups: the platform backs up and verifies at due times, or when an admin asks.
 *
 * Owns the table `backup_settings`. The program of `roost backup run` does the work in a process of its own, and records
 * the results in the data folder. Promises that no due time runs twice, that a missed one runs within the grace or not
 * at all, and that an alert is pending while the last attempt has failed.
 */
export { scheduledBackupRoutes } from './routes.ts'
export { createScheduledBackups, type ScheduledBackups, type ScheduledBackupsDeps } from './service.ts'
export { sealedColumns } from './store.ts'
