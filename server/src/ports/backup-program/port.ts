import type { Secret } from '../../kit/secret.ts'

/** A backup, or the verification of the last one. */
export type BackupTask = {
  kind: 'backup' | 'verification'
  repository: string
  /** Snapshots to keep after a backup; null keeps all. */
  retention: { daily: number; weekly: number; monthly: number } | null
  passphrase: Secret
  /** Only what the repository's address needs; null otherwise. */
  s3: { accessKeyId: string; secretAccessKey: Secret; region: string | null } | null
  sftp: { privateKey: Secret; knownHosts: string } | null
}

/**
 * Runs backups of this installation in a process of their own, so that they do not block the event loop. The program
 * records its results in the data folder.
 */
export type BackupProgram = {
  /** Returns why this installation cannot run it, as sentences for people; null when it can. */
  problem(): Promise<string | null>
  /** True while a process of this machine backs up, restores or verifies this installation. */
  isRunning(): Promise<boolean>
  /** Resolves when the program has ended: with null after a success, else with the reason, without secrets. */
  run(task: BackupTask, signal: AbortSignal): Promise<string | null>
}
