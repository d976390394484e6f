import { isAbsolute, relative, resolve } from 'node:path'
import type { PlatformAlert } from '@roost/contracts/operations/operator-queue'
import { BackupRetention } from '@roost/contracts/operations/scheduled-backups'
import { invalidField } from '../../kit/fault.ts'
import { createScheduleTimes } from '../../kit/schedule-times.ts'
import type { BackupSettingsRow, Kind } from './store.ts'

/** A due time missed while the platform was off still runs within this time. */
export const graceSeconds = 3600
/** A backup that hangs, such as on a network folder, must not block all later ones. */
export const maxRunSeconds = 24 * 3600

export const defaults = {
  enabled: 0,
  repository: null,
  cron_expression: '0 3 * * *',
  timezone: 'UTC',
  verify_cron_expression: null,
  retention: JSON.stringify({ daily: 7, weekly: 4, monthly: 12 }),
  sealed_passphrase: null,
  sealed_s3: null,
  sealed_sftp: null,
  backup_reported_at: null,
  verification_reported_at: null,
} as const satisfies Partial<BackupSettingsRow>

type Timing = Pick<BackupSettingsRow, 'enabled' | 'cron_expression' | 'timezone' | 'verify_cron_expression'>
type Decided = Pick<BackupSettingsRow, 'backup_decided_at' | 'verification_decided_at'>

const times = createScheduleTimes()

/** The first due time after `after`; null when nothing is scheduled. */
export function nextDue(row: Timing, kind: Kind, after: Date): Date | null {
  const cron_expression = kind === 'backup' ? row.cron_expression : row.verify_cron_expression
  if (row.enabled !== 1 || cron_expression === null) return null
  return times.next({ cron_expression, timezone: row.timezone }, after)
}

/** True if a due time within the grace is undecided. Several of them need one run. */
export function isDue(row: Timing & Decided, kind: Kind, now: Date): boolean {
  // Due times are exclusive of the start.
  const graceStart = now.getTime() - graceSeconds * 1000 - 1
  const after = new Date(Math.max(Date.parse(row[`${kind}_decided_at`]), graceStart))
  const due = nextDue(row, kind, after)
  return due !== null && due <= now
}

/** Fields whose change starts a new schedule: due times from before the change no longer count. */
export function changesSchedule(kind: Kind, from: Timing, to: Timing): boolean {
  const cron = kind === 'backup' ? 'cron_expression' : 'verify_cron_expression'
  return (['enabled', 'timezone', cron] as const).some((field) => from[field] !== to[field])
}

/** Throws `validation_error` for a folder in which a backup would be lost with the data. */
export function checkFolder(repository: string, dataDir: string): void {
  if (!repository.startsWith('/')) return
  const [folder, data] = [resolve(repository), resolve(dataDir)]
  if (folder === '/') throw invalidField(['repository'], 'must be a folder of its own, not /')
  if (isWithin(folder, data) || isWithin(data, folder))
    throw invalidField(['repository'], 'must be outside the data folder, because it is lost with that folder')
}

function isWithin(inner: string, outer: string): boolean {
  const path = relative(outer, inner)
  return path === '' || !(path === '..' || path.startsWith('../') || isAbsolute(path))
}

/** Throws `validation_error` for an OpenSSH key that needs a passphrase, which nobody could type. */
export function checkPrivateKey(text: string): void {
  const body = /^-----BEGIN OPENSSH PRIVATE KEY-----([^-]*)-----END/.exec(text)?.[1]
  if (body === undefined) return
  const bytes = Buffer.from(body, 'base64')
  const magic = 'openssh-key-v1\0'
  const cipher = `${magic}\0\0\0\x04none`
  if (bytes.subarray(0, magic.length).toString('latin1') !== magic)
    throw invalidField(['sftp', 'private_key'], 'must be a complete private key')
  if (bytes.subarray(0, cipher.length).toString('latin1') !== cipher)
    throw invalidField(['sftp', 'private_key'], 'must be a private key without a passphrase')
}

type Needed = 'repository' | 'passphrase' | 's3' | 'sftp'
const needs: Record<Needed, string> = {
  repository: 'is required: backups need a place',
  passphrase: 'is required: backups are encrypted with it',
  s3: 'is required: the repository is S3-compatible storage',
  sftp: 'is required: the repository is reached by SFTP',
}

/** The first missing field of a usable configuration; null when it is complete. */
export function missingField(row: BackupSettingsRow): { field: Needed; rule: string } | null {
  const field = (['repository', 'passphrase', 's3', 'sftp'] as const).find((each) => isMissing(each, row))
  return field === undefined ? null : { field, rule: needs[field] }
}

function isMissing(field: Needed, row: BackupSettingsRow): boolean {
  switch (field) {
    case 'repository':
      return row.repository === null
    case 'passphrase':
      return row.sealed_passphrase === null
    default:
      return row.repository?.startsWith(`${field}:`) === true && row[`sealed_${field}`] === null
  }
}

export function retentionOf({ retention }: Pick<BackupSettingsRow, 'retention'>): BackupRetention | null {
  return retention === null ? null : BackupRetention.parse(JSON.parse(retention))
}

const subjects = {
  backup: { kind: 'backup_failed', name: 'backup' },
  verification: { kind: 'backup_verification_failed', name: 'verification of the backup' },
} as const

export function alertKindOf(kind: Kind) {
  return subjects[kind].kind
}

export function failureAlert(
  kind: Kind,
  { attempted_at, reason }: { attempted_at: string; reason: string | null },
): PlatformAlert {
  const { name } = subjects[kind]
  return {
    agentId: null,
    kind: alertKindOf(kind),
    title: `The last ${name} failed`,
    question: `${reason ?? 'The reason is unknown.'} Correct the cause in the settings under Backups, and start one there. A success resolves this alert.`,
    priority: 'high',
    context: { attempted_at },
  }
}
