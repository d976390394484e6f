import { z } from 'zod'
import { isTimezone, readCron } from '../kit/cron.ts'
import { endpoint } from '../kit/endpoint.ts'
import { Timestamp } from '../kit/primitives.ts'

const tag = 'Settings'

export const minPassphraseLength = 12

/** Snapshots that stay in the repository: the newest of so many days, weeks and months. */
export const BackupRetention = z
  .object({
    daily: z.number().int().min(0).max(9999),
    weekly: z.number().int().min(0).max(9999),
    monthly: z.number().int().min(0).max(9999),
  })
  .refine(
    ({ daily, weekly, monthly }) => daily + weekly + monthly > 0,
    'must keep at least one daily, weekly or monthly snapshot',
  )
export type BackupRetention = z.output<typeof BackupRetention>

/** `succeeded_at` and `bytes` are of the last success; `reason` says why the last attempt failed. */
export const BackupResult = z.object({
  attempted_at: Timestamp,
  result: z.enum(['success', 'failure']),
  succeeded_at: Timestamp.nullable(),
  bytes: z.number().nullable(),
  reason: z.string().nullable(),
})
export type BackupResult = z.output<typeof BackupResult>

export const BackupSettings = z
  .object({
    available: z.boolean().describe('Whether the platform itself can back up on its container engine.'),
    unavailable_reason: z.string().nullable(),
    enabled: z.boolean(),
    repository: z.string().nullable(),
    passphrase_set: z.boolean(),
    s3_set: z.boolean(),
    sftp_set: z.boolean(),
    cron_expression: z.string(),
    timezone: z.string(),
    verify_cron_expression: z.string().nullable().describe('Null: no scheduled verification.'),
    retention: BackupRetention.nullable().describe('Null: every snapshot stays.'),
    running: z.boolean().describe('A backup, restore or verification runs, also one of a command.'),
    next_backup_at: Timestamp.nullable(),
    next_verification_at: Timestamp.nullable(),
    last_backup: BackupResult.nullable(),
    last_verification: BackupResult.nullable(),
  })
  .meta({ id: 'BackupSettings' })
export type BackupSettings = z.output<typeof BackupSettings>

const word = z
  .string()
  .trim()
  .max(4096)
  .regex(/^[\x21-\x7e]+$/, 'must be one word of printable characters')

export const BackupCron = z
  .string()
  .trim()
  .superRefine((text, context) => {
    const cron = readCron(text)
    if (typeof cron === 'string') context.addIssue({ code: 'custom', message: cron })
  })
export const BackupTimezone = z.string().trim().max(100).refine(isTimezone, 'must be a known IANA zone')

export const BackupPassphrase = z
  .string()
  .min(minPassphraseLength, `must have at least ${minPassphraseLength} characters`)
  .max(1024)
  .refine((text) => !/\p{Cc}/u.test(text), 'must be one line without control characters')

export const S3Credentials = z.object({
  access_key_id: word,
  secret_access_key: word,
  region: z
    .string()
    .trim()
    .max(100)
    .regex(/^[A-Za-z0-9-]*$/, 'must be letters, digits and "-"')
    .nullish(),
})
export type S3Credentials = z.output<typeof S3Credentials>

const privateKeyForm =
  /^-----BEGIN (?!ENCRYPTED)([A-Z ]*)PRIVATE KEY-----\r?\n[A-Za-z0-9+/=\r\n]+-----END \1PRIVATE KEY-----$/

export const SftpCredentials = z.object({
  private_key: z
    .string()
    .trim()
    .max(16 * 1024)
    .refine(
      (text) => privateKeyForm.test(text),
      'must be a private key as in its file, without a passphrase',
    ),
  known_hosts: z
    .string()
    .trim()
    .max(64 * 1024)
    .refine((text) => /^\S+ +\S+ +\S+/m.test(text), 'must have lines of a known_hosts file'),
})
export type SftpCredentials = z.output<typeof SftpCredentials>

export const BackupSettingsBody = z.object({
  enabled: z.boolean().optional(),
  repository: z.string().trim().min(1, 'must not be empty').max(1000).optional(),
  passphrase: BackupPassphrase.optional(),
  s3: S3Credentials.nullish(),
  sftp: SftpCredentials.nullish(),
  cron_expression: BackupCron.optional(),
  timezone: BackupTimezone.optional(),
  verify_cron_expression: BackupCron.nullish(),
  retention: BackupRetention.nullish(),
})
export type BackupSettingsBody = z.output<typeof BackupSettingsBody>

export const getBackupSettings = endpoint({
  id: 'getBackupSettings',
  method: 'GET',
  path: '/api/settings/backup',
  summary: 'Get the scheduled backups, their next due times and last results; never the secrets',
  tag,
  access: { who: 'admin' },
  returns: BackupSettings,
})

export const putBackupSettings = endpoint({
  id: 'putBackupSettings',
  method: 'PUT',
  path: '/api/settings/backup',
  summary: 'Configure the scheduled backups; omitted fields keep their value',
  description:
    'A backup holds everything, so only a signed-in admin chooses where it goes. `null` deletes credentials, the verification or the retention. 409 `backups_unavailable` if the platform cannot back up and `enabled` would become true.',
  tag,
  access: { who: 'admin', gate: 'human' },
  body: BackupSettingsBody,
  returns: BackupSettings,
  fails: ['backups_unavailable'],
  audit: { type: 'configuration', action: 'put_backup_settings' },
})

const Started = z.object({ status: z.literal('started') })
const starts = {
  method: 'POST',
  tag,
  access: { who: 'admin', gate: 'person' },
  strict: true,
  status: 202,
  returns: Started,
  fails: ['backups_unavailable', 'backup_not_configured', 'backup_in_progress'],
} as const

export const runBackup = endpoint({
  ...starts,
  id: 'runBackup',
  path: '/api/settings/backup/run',
  summary: 'Start a backup now; its result is in the settings when it has ended',
  audit: { type: 'system', action: 'run_backup' },
})

export const verifyBackup = endpoint({
  ...starts,
  id: 'verifyBackup',
  path: '/api/settings/backup/verify',
  summary: 'Start a verification of the last backup now',
  audit: { type: 'system', action: 'verify_backup' },
})
