/**
 * Backups: writes an installation into an archive, a repository or an encrypted file, and restores it.
 *
 * Owns no table. Promises that a backup contains one consistent state of the database while the platform runs, that
 * the key and environment in it need the passphrase, and that a restore is complete or has no effect. Only repositories
 * and encrypted files include the volumes of agents.
 */
export { ageSource } from './age-file.ts'
export { BackupError, measure } from './archive.ts'
export { type FullManifest, removeDrafts } from './content.ts'
export { readManifest, restoreAgent, restoreFile } from './one-agent.ts'
export { openRepository, type Repository, type Retention } from './repository.ts'
export { restoredFile } from './restored.ts'
export {
  archiveName,
  backUp,
  type Installation,
  restore,
  sweepBackups,
} from './service.ts'
export type { BackupSource } from './source.ts'
export {
  type BackupOutcome,
  type BackupStatus,
  readBackupStatus,
  readVerifyStatus,
  writeBackupStatus,
  writeVerifyStatus,
} from './status.ts'
export { volumeBases } from './store.ts'
export { addressProblem, type RepositoryCredentials } from './target.ts'
export { removeScratchVolumes, verify } from './verify.ts'
export { backUpToFile, backUpToRepository, restoreAll } from './whole.ts'
