import { mkdir, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { minPassphraseLength } from '@roost/contracts/operations/scheduled-backups'
import {
  type KeySource,
  openWith,
  sealWith,
  unwrapKey,
  VaultError,
  wrapKey,
} from '../../foundation/vault/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import type { Secret } from '../../kit/secret.ts'
import type { DatabaseCopies } from '../../ports/database-copies/port.ts'
import { BackupError, measure, readArchive, refuseTarget, writeArchive, writePrivate } from './archive.ts'
import { markRestored } from './restored.ts'

/** An installation, running or not. */
export type Installation = { key: KeySource; copies: DatabaseCopies }

const environmentContext = 'backup:environment'
/** The restored environment variables, for the administrator. The platform does not read this file. */
const environmentFile = 'restored.env'

export type BackUp = Installation & {
  clock: Pick<Clock, 'now'>
  version: string
  passphrase: Secret
  /** Path of the archive. */
  to: string
  /** False: an existing file of that name is refused. */
  mayReplace: boolean
  /** Path of the installation's `.env` file, which need not exist. */
  dotenv: string
}

/**
 * Writes an archive of the database at one moment, the encryption key and the environment; the last two are sealed with
 * the passphrase. The platform can run meanwhile. Throws `BackupError`, `CopyError`, `KeyFileError`.
 */
export async function backUp(options: BackUp): Promise<{ bytes: number }> {
  const { key, copies, clock, version, passphrase, to, mayReplace } = options
  const phrase = checkPassphrase(passphrase)
  await refuseTarget(to, mayReplace)
  await mkdir(dirname(to), { recursive: true, mode: 0o700 })
  // Next to the archive, because the draft needs the same file system; readable only by its owner.
  const folder = await mkdtemp(join(dirname(to), '.roost-backup-'))
  try {
    const database = join(folder, 'database')
    await copies.copyTo(database)
    const environment = await textOf(options.dotenv)
    const manifest = {
      format: 1 as const,
      roost_version: version,
      created_at: timestamp(clock.now()),
      dialect: copies.dialect,
      install_id: (await textOf(join(key.dataDir, 'install-id')))?.trim() ?? null,
      database: await measure(database),
      encryption_key: wrapKey(key, phrase),
      environment: environment === null ? null : sealWith(phrase, environment, environmentContext),
    }
    await writeArchive({ to, draft: join(folder, 'archive'), mayReplace }, manifest, database)
    return { bytes: (await stat(to)).size }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

export type Restore = Installation & { passphrase: Secret; from: string }

/**
 * Restores an archive into an installation without data. The database comes last, so an interrupted restore can be
 * repeated. Throws `BackupError`, `CopyError`, `KeyFileError`.
 */
export async function restore({ key, copies, passphrase, from }: Restore): Promise<{
  createdAt: string
  version: string
  /** Path of the restored environment variables; null when the archive has none. */
  environment: string | null
}> {
  await copies.refuseFull()
  await mkdir(key.dataDir, { recursive: true, mode: 0o700 })
  const folder = await mkdtemp(join(key.dataDir, '.roost-restore-'))
  try {
    const { manifest, database } = await readArchive(from, folder)
    if (manifest.dialect !== copies.dialect) {
      throw new BackupError(
        `This backup is of ${manifest.dialect}, and ROOST_DATABASE_URL names ${copies.dialect}: they cannot be changed into each other.`,
      )
    }
    const phrase = passphrase.reveal()
    const unwrapped = openOrFail(() => unwrapKey(manifest.encryption_key, phrase))
    if (!unwrapped.fits(key)) {
      throw new BackupError(
        'This installation has another encryption key (encryption.key or ROOST_ENCRYPTION_KEY): restore into an empty data folder.',
      )
    }
    unwrapped.keep(key)
    if (manifest.install_id !== null)
      await writeIfAbsent(join(key.dataDir, 'install-id'), manifest.install_id)
    const environment = join(key.dataDir, environmentFile)
    const sealed = manifest.environment
    if (sealed)
      await writeIfAbsent(
        environment,
        openOrFail(() => openWith(phrase, sealed, environmentContext)),
      )
    await markRestored(key.dataDir)
    await copies.restoreFrom(database)
    return {
      createdAt: manifest.created_at,
      version: manifest.roost_version,
      environment: sealed ? environment : null,
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Removes archives in `folder` that are older than `days` by their name from `archiveName`. Returns their names. */
export async function sweepBackups(folder: string, days: number, now: Date): Promise<string[]> {
  const oldest = archiveName(new Date(now.getTime() - days * 86_400_000))
  const old = (await readdir(folder)).filter((name) => archivePattern.test(name) && name < oldest)
  for (const name of old) await rm(join(folder, name), { force: true })
  return old
}

/** Archive names sort by time. */
export function archiveName(now: Date): string {
  return `roost-${timestamp(now).replaceAll(/[:.]/g, '-')}.tar.gz`
}
const archivePattern = /^roost-\d{4}-\d\d-\d\dT[\d-]+Z\.tar\.gz$/

export function checkPassphrase(passphrase: Secret): string {
  const phrase = passphrase.reveal()
  if (phrase.length >= minPassphraseLength) return phrase
  throw new BackupError(`The passphrase must have at least ${minPassphraseLength} characters.`)
}

function openOrFail<T>(open: () => T): T {
  try {
    return open()
  } catch (cause) {
    if (!(cause instanceof VaultError)) throw cause
    throw new BackupError('The passphrase is wrong, or the backup was changed.', { cause })
  }
}

async function textOf(path: string): Promise<string | null> {
  return readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
}

async function writeIfAbsent(path: string, content: string): Promise<void> {
  await writePrivate(path, content).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
}
