import { mkdir, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
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
import { BackupError, measured, readArchive, refuseTarget, writeArchive, writePrivate } from './archive.ts'

/** An installation, running or not. */
export type Installation = { key: KeySource; copies: DatabaseCopies }

export const leastPassphrase = 12
const environmentContext = 'backup:environment'
/** Beside the restored data: which variables the platform had. Not read by it. */
const environmentFile = 'restored.env'

export type BackUp = Installation & {
  clock: Pick<Clock, 'now'>
  version: string
  passphrase: Secret
  /** The archive. */
  to: string
  /** Whether an archive of that name is replaced; else it is refused. */
  mayReplace: boolean
  /** The `.env` file of the installation; it need not be there. */
  dotenv: string
}

/**
 * Writes one archive of the database as it is at one moment, the encryption key and the environment, the last two
 * sealed with the passphrase. The platform may go on meanwhile. Throws `BackupError`, `CopyError`, `KeyFileError`.
 */
export async function backUp(asked: BackUp): Promise<{ bytes: number }> {
  const { key, copies, clock, version, passphrase, to, mayReplace } = asked
  const words = checked(passphrase)
  await refuseTarget(to, mayReplace)
  await mkdir(dirname(to), { recursive: true, mode: 0o700 })
  // Beside the archive, where there is room for it, and readable by nobody else.
  const folder = await mkdtemp(join(dirname(to), '.roost-backup-'))
  try {
    const database = join(folder, 'database')
    await copies.copyTo(database)
    const environment = await textOf(asked.dotenv)
    const manifest = {
      format: 1 as const,
      roost_version: version,
      created_at: timestamp(clock.now()),
      dialect: copies.dialect,
      install_id: (await textOf(join(key.dataDir, 'install-id')))?.trim() ?? null,
      database: await measured(database),
      encryption_key: wrapKey(key, words),
      environment: environment === null ? null : sealWith(words, environment, environmentContext),
    }
    await writeArchive({ to, draft: join(folder, 'archive'), mayReplace }, manifest, database)
    return { bytes: (await stat(to)).size }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

export type Restore = Installation & { passphrase: Secret; from: string }

/**
 * Puts an archive into an installation that has no data yet. The database comes last: a restore that was cut off
 * can be begun again. Throws `BackupError`, `CopyError`, `KeyFileError`.
 */
export async function restore({ key, copies, passphrase, from }: Restore): Promise<{
  createdAt: string
  version: string
  /** Where the variables of its environment are now; null: there were none. */
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
    const words = passphrase.reveal()
    const unwrapped = opened(() => unwrapKey(manifest.encryption_key, words))
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
        opened(() => openWith(words, sealed, environmentContext)),
      )
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

/** Removes archives in `folder`, whose names begin and end as those of `archiveName`, older than so many days. */
export async function sweepBackups(folder: string, days: number, now: Date): Promise<string[]> {
  const oldest = archiveName(new Date(now.getTime() - days * 86_400_000))
  const old = (await readdir(folder)).filter((name) => archivePattern.test(name) && name < oldest)
  for (const name of old) await rm(join(folder, name), { force: true })
  return old
}

/** Names in the order of their times. */
export function archiveName(now: Date): string {
  return `roost-${timestamp(now).replaceAll(/[:.]/g, '-')}.tar.gz`
}
const archivePattern = /^roost-\d{4}-\d\d-\d\dT[\d-]+Z\.tar\.gz$/

function checked(passphrase: Secret): string {
  const words = passphrase.reveal()
  if (words.length >= leastPassphrase) return words
  throw new BackupError(`The passphrase must have at least ${leastPassphrase} characters.`)
}

function opened<T>(open: () => T): T {
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
