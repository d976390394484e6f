/**
 * Backups: writes an installation into an archive, and restores it.
 *
 * Owns no table. Promises that an archive contains one consistent state of the database while the platform runs, that
 * the key and environment in it need the passphrase, and that a restore is complete or has no effect. Does not know the
 * content of the database, and does not include agents' workspaces.
 */
export { BackupError } from './archive.ts'
export {
  archiveName,
  backUp,
  type Installation,
  minPassphraseLength,
  restore,
  sweepBackups,
} from './service.ts'
export { type BackupStatus, readBackupStatus, writeBackupStatus } from './status.ts'
