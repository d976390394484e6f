/**
 * Backups: one archive of an installation, and the way back.
 *
 * Owns no table. Promises that an archive holds one state of the database although the platform goes on, that
 * nothing of it but the database can be read without the passphrase, and that it is put back whole or not at all.
 * Refuses to know what is in the database, and leaves agents' workspaces to the container engine.
 */
export { BackupError } from './archive.ts'
export { archiveName, backUp, type Installation, leastPassphrase, restore, sweepBackups } from './service.ts'
