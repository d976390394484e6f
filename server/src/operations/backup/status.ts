import { readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { writePrivate } from './archive.ts'

/**
 * Times in ISO 8601. `succeeded_at` and `bytes` are of the last successful backup, which may be an earlier one.
 * `reason` says why the last attempt failed.
 */
const BackupStatus = z.object({
  attempted_at: z.string(),
  result: z.enum(['success', 'failure']),
  succeeded_at: z.string().nullable(),
  bytes: z.number().nullable(),
  // Absent in records of earlier versions.
  reason: z.string().nullable().default(null),
})
export type BackupStatus = z.infer<typeof BackupStatus>

export type BackupOutcome = { bytes: number } | { reason: string }

/** A reason can have the last lines of a program. */
const maxReasonLength = 1_000

const backupFile = 'backup-status.json'
const verifyFile = 'backup-verify-status.json'

/** Null: no backup was made here, or the record cannot be read. */
export function readBackupStatus(dataDir: string): Promise<BackupStatus | null> {
  return readStatus(join(dataDir, backupFile))
}

/** Null: no backup was verified here, or the record cannot be read. `bytes` is 0. */
export function readVerifyStatus(dataDir: string): Promise<BackupStatus | null> {
  return readStatus(join(dataDir, verifyFile))
}

/** A file and not a table: a backup that fails because of the database is recorded too. */
export function writeBackupStatus(dataDir: string, at: string, outcome: BackupOutcome): Promise<void> {
  return writeStatus(join(dataDir, backupFile), at, outcome)
}

export function writeVerifyStatus(dataDir: string, at: string, outcome: BackupOutcome): Promise<void> {
  return writeStatus(join(dataDir, verifyFile), at, outcome)
}

async function readStatus(path: string): Promise<BackupStatus | null> {
  try {
    return BackupStatus.parse(JSON.parse(await readFile(path, 'utf8')))
  } catch {
    return null
  }
}

async function writeStatus(path: string, at: string, outcome: BackupOutcome): Promise<void> {
  const before = await readStatus(path)
  const status: BackupStatus =
    'reason' in outcome
      ? {
          succeeded_at: before?.succeeded_at ?? null,
          bytes: before?.bytes ?? null,
          attempted_at: at,
          result: 'failure',
          reason: outcome.reason.slice(0, maxReasonLength).toWellFormed(),
        }
      : { succeeded_at: at, bytes: outcome.bytes, attempted_at: at, result: 'success', reason: null }
  const draft = `${path}.${process.pid}`
  await writePrivate(draft, `${JSON.stringify(status)}\n`)
  await rename(draft, path)
}
