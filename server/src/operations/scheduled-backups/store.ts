import type { SealedColumn, SealedText } from '../../foundation/vault/index.ts'
import type { BackupTask } from '../../ports/backup-program/port.ts'
import type { Executor } from '../../ports/database/port.ts'

export type Kind = BackupTask['kind']

export type BackupSettingsRow = {
  enabled: number
  repository: string | null
  cron_expression: string
  timezone: string
  verify_cron_expression: string | null
  /** JSON; null keeps every snapshot. */
  retention: string | null
  sealed_passphrase: SealedText | null
  /** JSON of `S3Credentials` and `SftpCredentials`. */
  sealed_s3: SealedText | null
  sealed_sftp: SealedText | null
  /** Due times up to here need no decision. */
  backup_decided_at: string
  verification_decided_at: string
  /** The attempt whose result the alert shows. */
  backup_reported_at: string | null
  verification_reported_at: string | null
  updated_at: string
}

type BackupSettingsTables = { backup_settings: BackupSettingsRow & { id: string } }

const onlyId = 'backup'

export const contexts = {
  passphrase: 'scheduled-backups:passphrase',
  s3: 'scheduled-backups:s3',
  sftp: 'scheduled-backups:sftp',
}

/** The only SQL about scheduled backups. */
export function backupSettingsStore(executor: Executor) {
  const db = executor.withTables<BackupSettingsTables>()
  const own = () => db.updateTable('backup_settings').where('id', '=', onlyId)

  return {
    /** Null: never configured. */
    async read(): Promise<BackupSettingsRow | null> {
      const row = await db
        .selectFrom('backup_settings')
        .selectAll()
        .where('id', '=', onlyId)
        .executeTakeFirst()
      return row ?? null
    },

    /** Inserts the defaults if nothing is stored, and makes other transactions that change the row wait. */
    async lock(defaults: BackupSettingsRow): Promise<void> {
      await db
        .insertInto('backup_settings')
        .values({ id: onlyId, ...defaults })
        .onConflict((c) => c.column('id').doNothing())
        .execute()
      await own()
        .set((row) => ({ enabled: row.ref('enabled') }))
        .execute()
    },

    async update(changes: Partial<BackupSettingsRow>): Promise<void> {
      await own().set(changes).execute()
    },

    /** Decides the due times up to `at`. False if another process or a change of the settings did meanwhile. */
    async decide(kind: Kind, row: BackupSettingsRow, at: string): Promise<boolean> {
      const column = `${kind}_decided_at` as const
      const result = await own()
        .set({ [column]: at })
        .where(column, '=', row[column])
        .where('enabled', '=', 1)
        .executeTakeFirst()
      return Number(result.numUpdatedRows) === 1
    },

    /** False if the result of this attempt is reported already. */
    async noteReported(kind: Kind, attemptedAt: string): Promise<boolean> {
      const column = `${kind}_reported_at` as const
      const result = await own()
        .set({ [column]: attemptedAt })
        .where((e) => e.or([e(column, 'is', null), e(column, '<>', attemptedAt)]))
        .executeTakeFirst()
      return Number(result.numUpdatedRows) === 1
    },
  }
}

export const sealedColumns: SealedColumn[] = [
  {
    table: 'backup_settings',
    column: 'sealed_passphrase',
    key: ['id'],
    context: () => contexts.passphrase,
  },
  { table: 'backup_settings', column: 'sealed_s3', key: ['id'], context: () => contexts.s3 },
  { table: 'backup_settings', column: 'sealed_sftp', key: ['id'], context: () => contexts.sftp },
]
