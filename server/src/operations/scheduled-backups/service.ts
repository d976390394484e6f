import type { BackupSettings, BackupSettingsBody } from '@roost/contracts/operations/scheduled-backups'
import { S3Credentials, SftpCredentials } from '@roost/contracts/operations/scheduled-backups'
import type { Loop } from '../../background/loops.ts'
import type { Vault } from '../../foundation/vault/index.ts'
import { timestamp } from '../../kit/clock.ts'
import { Fault, invalidField } from '../../kit/fault.ts'
import { secret } from '../../kit/secret.ts'
import type { BackupTask } from '../../ports/backup-program/port.ts'
import { addressProblem } from '../backup/index.ts'
import {
  changesSchedule,
  checkFolder,
  checkPrivateKey,
  defaults,
  isDue,
  missingField,
  nextDue,
  retentionOf,
} from './rules.ts'
import { createRunner, missingMachines, type RunnerDeps } from './runner.ts'
import { type BackupSettingsRow, backupSettingsStore, contexts, type Kind } from './store.ts'

export type ScheduledBackupsDeps = RunnerDeps & { vault: Pick<Vault, 'seal' | 'open'> }

export type ScheduledBackups = {
  view(): Promise<BackupSettings>
  /** Omitted fields keep their value. Throws `validation_error` and `backups_unavailable`; then nothing changes. */
  put(body: BackupSettingsBody): Promise<BackupSettings>
  /** Starts a run. Throws `backups_unavailable`, `backup_not_configured`, `backup_in_progress`. */
  start(kind: Kind): Promise<void>
  loops: Loop[]
  /** Ends a run and waits for it. */
  close(): Promise<void>
}

const kinds: readonly Kind[] = ['backup', 'verification']

export function createScheduledBackups(deps: ScheduledBackupsDeps): ScheduledBackups {
  const { db, clock, vault, program, dataDir } = deps
  const store = backupSettingsStore(db)
  const runner = createRunner(deps)

  async function view(): Promise<BackupSettings> {
    const [stored, problem, running, last_backup, last_verification] = await Promise.all([
      store.read(),
      program.problem(),
      runner.isRunning(),
      runner.statusOf('backup'),
      runner.statusOf('verification'),
    ])
    const row = stored ?? blank()
    const next = (kind: Kind) => {
      const due = nextDue(row, kind, clock.now())
      return due && timestamp(due)
    }
    return {
      available: problem === null,
      unavailable_reason: problem,
      enabled: row.enabled === 1,
      repository: row.repository,
      passphrase_set: row.sealed_passphrase !== null,
      s3_set: row.sealed_s3 !== null,
      sftp_set: row.sealed_sftp !== null,
      cron_expression: row.cron_expression,
      timezone: row.timezone,
      verify_cron_expression: row.verify_cron_expression,
      retention: retentionOf(row),
      running,
      next_backup_at: next('backup'),
      next_verification_at: next('verification'),
      last_backup,
      last_verification,
    }
  }

  function blank(): BackupSettingsRow {
    const now = timestamp(clock.now())
    return { ...defaults, backup_decided_at: now, verification_decided_at: now, updated_at: now }
  }

  /** The columns that a request changes. */
  function changesOf(body: BackupSettingsBody): Partial<BackupSettingsRow> {
    const { enabled, repository, passphrase, s3, sftp, retention, ...timing } = body
    const sealed = (value: object | null, context: string) =>
      value && vault.seal(JSON.stringify(value), context)
    const changes: Partial<BackupSettingsRow> = {
      enabled: enabled === undefined ? undefined : enabled ? 1 : 0,
      repository,
      ...timing,
      retention: retention === undefined ? undefined : retention && JSON.stringify(retention),
      sealed_passphrase: passphrase === undefined ? undefined : vault.seal(passphrase, contexts.passphrase),
      sealed_s3: s3 === undefined ? undefined : sealed(s3, contexts.s3),
      sealed_sftp: sftp === undefined ? undefined : sealed(sftp, contexts.sftp),
    }
    return Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined))
  }

  async function put(body: BackupSettingsBody): Promise<BackupSettings> {
    if (body.repository !== undefined) {
      const rule = addressProblem(body.repository)
      if (rule) throw invalidField(['repository'], rule)
      checkFolder(body.repository, dataDir)
    }
    if (body.sftp) checkPrivateKey(body.sftp.private_key)
    const problem = body.enabled ? ((await program.problem()) ?? (await missingMachines(deps))) : null
    const changes = changesOf(body)
    await db.atomically(async (tx) => {
      const store = backupSettingsStore(tx)
      await store.lock(blank())
      const before = (await store.read()) ?? blank()
      const after = { ...before, ...changes }
      if (after.enabled === 1) {
        const missing = missingField(after)
        if (missing) throw invalidField([missing.field], missing.rule)
        if (problem !== null && before.enabled === 0) throw new Fault('backups_unavailable', problem)
      }
      const now = timestamp(clock.now())
      const decided = kinds
        .filter((kind) => changesSchedule(kind, before, after))
        .map((kind) => [`${kind}_decided_at`, now])
      await store.update({ ...changes, ...Object.fromEntries(decided), updated_at: now })
    })
    return view()
  }

  /** Throws `VaultError` when a stored secret does not open. */
  function taskOf(kind: Kind, row: BackupSettingsRow): BackupTask {
    const { repository, sealed_passphrase, sealed_s3, sealed_sftp } = row
    if (repository === null || sealed_passphrase === null) throw new Fault('backup_not_configured')
    const s3 =
      repository.startsWith('s3:') && sealed_s3
        ? S3Credentials.parse(JSON.parse(vault.open(sealed_s3, contexts.s3)))
        : null
    const sftp =
      repository.startsWith('sftp:') && sealed_sftp
        ? SftpCredentials.parse(JSON.parse(vault.open(sealed_sftp, contexts.sftp)))
        : null
    return {
      kind,
      repository,
      retention: retentionOf(row),
      passphrase: secret(vault.open(sealed_passphrase, contexts.passphrase)),
      s3: s3 && {
        accessKeyId: s3.access_key_id,
        secretAccessKey: secret(s3.secret_access_key),
        region: s3.region || null,
      },
      sftp: sftp && { privateKey: secret(sftp.private_key), knownHosts: sftp.known_hosts },
    }
  }

  /** Reports results, then starts at most one run. While one is under way, due times wait within their grace. */
  async function check(): Promise<void> {
    for (const kind of kinds) await runner.report(kind)
    const row = await store.read()
    if (row?.enabled !== 1 || (await runner.isRunning())) return
    const now = clock.now()
    const kind = kinds.find((each) => isDue(row, each, now))
    if (kind && (await store.decide(kind, row, timestamp(now)))) runner.begin(kind, () => taskOf(kind, row))
  }

  return {
    view,
    put,
    async start(kind) {
      const problem = await program.problem()
      if (problem !== null) throw new Fault('backups_unavailable', problem)
      const row = await store.read()
      const missing = missingField(row ?? blank())
      if (!row || missing) {
        const detail = missing ? `${missing.field} ${missing.rule}.` : undefined
        throw new Fault('backup_not_configured', detail)
      }
      if (await runner.isRunning()) throw new Fault('backup_in_progress')
      runner.begin(kind, () => taskOf(kind, row))
    },
    loops: [{ name: 'scheduled-backups', everySeconds: 20, run: check }],
    close: runner.close,
  }
}
