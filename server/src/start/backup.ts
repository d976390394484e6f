/**
 * Writes or restores a backup of the installation, then exits: `backup.ts save <archive> <.env file> [replace]`,
 * `backup.ts restore <archive>`. The passphrase is in `ROOST_BACKUP_PASSPHRASE`. Exit codes: 0 done, 78 invalid
 * configuration, 1 any other error.
 */

import { readFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { redactText } from '@roost/contracts/kit/redact'
import { type Config, ConfigError, parseConfig } from '../config.ts'
import { backupDays } from '../foundation/settings/index.ts'
import { settleRotation } from '../foundation/vault/index.ts'
import { systemClock as clock, timestamp } from '../kit/clock.ts'
import { type Secret, secret } from '../kit/secret.ts'
import {
  archiveName,
  type BackupOutcome,
  backUp,
  type Installation,
  restore,
  sweepBackups,
  writeBackupStatus,
} from '../operations/backup/index.ts'
import { openDatabase } from '../ports/database/open.ts'
import { openDatabaseCopies } from '../ports/database-copies/open.ts'
import { createLog } from '../ports/log.ts'
import { exitConfig, fail, sendMessage } from './supervision.ts'

const [what, archive = '', dotenv = '', replace = ''] = process.argv.slice(2)

try {
  const config = parseConfig(process.env)
  const passphrase = secret(process.env.ROOST_BACKUP_PASSPHRASE ?? '')
  const installation = {
    key: config,
    copies: openDatabaseCopies(config.databaseUrl.reveal(), { path: process.env.PATH ?? '' }),
  }
  if (what === 'restore') await restoreBackup(installation, passphrase)
  else await save(config, installation, passphrase)
} catch (error) {
  fail(reasonOf(error), error instanceof ConfigError ? exitConfig : 1)
}
// The channel to the parent process would keep this process alive.
if (process.send) process.disconnect()

function reasonOf(error: unknown): string {
  return redactText(error instanceof Error ? error.message : String(error))
}

async function save(config: Config, installation: Installation, passphrase: Secret): Promise<void> {
  const folder = join(config.dataDir, 'backups')
  const to = archive || join(folder, archiveName(clock.now()))
  await settleKey(config)
  const record = (outcome: BackupOutcome) =>
    writeBackupStatus(config.dataDir, timestamp(clock.now()), outcome).catch((error: unknown) =>
      progress(`The result of this backup is missing in the metrics: ${String(error)}`),
    )
  const { bytes } = await backUp({
    ...installation,
    ...{ clock, version: await version(), passphrase, to, dotenv },
    mayReplace: replace === 'replace',
  }).catch(async (error: unknown) => {
    await record({ reason: reasonOf(error) })
    throw error
  })
  await record({ bytes })
  progress(`${to} (${Math.ceil(bytes / 1024)} KiB)`)
  // Archives in other folders are not deleted.
  if (dirname(to) !== folder) return
  const removed = await sweepBackups(folder, await retentionDays(config), clock.now())
  if (removed.length > 0) progress(`${removed.length} older backups removed`)
}

async function restoreBackup(installation: Installation, passphrase: Secret): Promise<void> {
  const { createdAt, version, environment } = await restore({ ...installation, passphrase, from: archive })
  progress(`Restored the backup of ${createdAt}, made by Roost ${version}.`)
  if (environment) progress(`The variables of its .env are in ${environment}. Copy those that still apply.`)
}

/** The key file must match the database, also after a rotation that was killed. */
async function settleKey(config: Config): Promise<void> {
  const db = await openDatabase(config.databaseUrl.reveal(), createLog({ level: config.logLevel }))
  try {
    await settleRotation(db, config)
  } finally {
    await db.close()
  }
}

async function retentionDays(config: Config): Promise<number> {
  const db = await openDatabase(config.databaseUrl.reveal(), createLog({ level: config.logLevel }))
  try {
    return await backupDays(db)
  } finally {
    await db.close()
  }
}

async function version(): Promise<string> {
  const manifest = await readFile(resolve(import.meta.dirname, '../../../package.json'), 'utf8')
  // The package manifest of this repository.
  return (JSON.parse(manifest) as { version: string }).version
}

function progress(text: string): void {
  sendMessage({ type: 'progress', text })
}
