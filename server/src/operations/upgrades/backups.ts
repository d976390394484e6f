/** Backups that an upgrade or a rollback makes by itself: folders below `upgrades` in the data folder. */
import { mkdir, mkdtemp, open, readdir, readFile, rename, rm, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { type KeySource, openVault } from '../../foundation/vault/index.ts'
import { timestamp } from '../../kit/clock.ts'
import type { DatabaseCopies } from '../../ports/database-copies/port.ts'
import { measure } from '../backup/index.ts'
import { Code, flushFolder, keptBackups, readJson, UpgradeState, writeWhole } from './files.ts'

/** An upgrade or a rollback cannot continue; the message says what to do. */
export class UpgradeError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'UpgradeError'
  }
}

const Manifest = z.object({
  format: z.literal(1),
  reason: z.enum(['upgrade', 'rollback']),
  created_at: z.string(),
  dialect: z.enum(['sqlite', 'postgres']),
  database: z.object({ bytes: z.number().int(), sha256: z.string() }),
  /** The key that opens the secrets of the database; null before the first one was made. */
  key_id: z.string().nullable(),
  has_key_file: z.boolean(),
  /** The version that wrote these data. */
  code: Code,
  /** The state file at that time. */
  state: UpgradeState.nullable(),
  /** Number of applied migrations; null in a backup before a rollback. */
  migrations: z.number().int().nullable(),
})
export type Manifest = z.output<typeof Manifest>

export type BackupOptions = {
  key: KeySource
  copies: DatabaseCopies
  now: Date
  reason: Manifest['reason']
  code: Code
  state: UpgradeState | null
  migrations: Manifest['migrations']
  /** Free bytes of the disk that holds a folder. */
  freeBytes?: (folder: string) => Promise<number>
}

const [manifestFile, databaseFile, keyFile] = ['manifest.json', 'database', 'encryption.key']
/** Space that stays free, so that the platform can go on writing. */
const reserveBytes = 64 * 1024 * 1024

/** Writes and verifies a backup, and returns its name. Throws `UpgradeError` and `CopyError`; nothing is left then. */
export async function makeBackup(options: BackupOptions): Promise<string> {
  const { key, copies, now, reason, code, state, migrations } = options
  const parent = backupsFolder(key.dataDir)
  await mkdir(parent, { recursive: true, mode: 0o700 })
  await removeDrafts(parent)
  await requireSpace(parent, await copies.sizeBound(), options.freeBytes ?? freeBytes)
  const draft = await mkdtemp(join(parent, '.draft-'))
  try {
    const database = join(draft, databaseFile)
    await copies.copyTo(database)
    await copies.verify(database)
    await flush(database)
    const keyText = await readKeyFile(key)
    if (keyText) await writeWhole(join(draft, keyFile), keyText)
    const manifest: Manifest = {
      format: 1,
      reason,
      created_at: timestamp(now),
      dialect: copies.dialect,
      database: await measure(database),
      key_id: keyIdOf(key, keyText !== null),
      has_key_file: keyText !== null,
      code,
      state,
      migrations,
    }
    await writeWhole(join(draft, manifestFile), manifest)
    const name = `${reason}-${timestamp(now).replaceAll(/[:.]/g, '-')}-${safe(code.version)}`
    await rename(draft, join(parent, name))
    await flushFolder(parent)
    return name
  } catch (error) {
    await rm(draft, { recursive: true, force: true })
    throw error
  }
}

export type StoredBackup = { name: string; manifest: Manifest; database: string; key: Buffer | null }

/** Reads a backup to its end. Throws `UpgradeError` for a missing or damaged one. */
export async function readBackup(
  dataDir: string,
  name: string,
  copies: Pick<DatabaseCopies, 'dialect' | 'verify'>,
): Promise<StoredBackup> {
  const folder = join(backupsFolder(dataDir), name)
  if (!/^[\w.-]+$/.test(name) || name.startsWith('.')) throw new UpgradeError(`${name} is not a backup.`)
  const damaged = (cause?: unknown) => new UpgradeError(`The backup ${folder} is damaged.`, { cause })
  const manifest = await readJson(join(folder, manifestFile), Manifest).catch((error: unknown) => {
    throw damaged(error)
  })
  if (!manifest) throw new UpgradeError(`The backup ${folder} does not exist.`)
  if (manifest.dialect !== copies.dialect)
    throw new UpgradeError(
      `The backup ${folder} is of ${manifest.dialect}, and ROOST_DATABASE_URL names ${copies.dialect}.`,
    )
  const database = join(folder, databaseFile)
  const { sha256 } = await measure(database).catch((error: unknown) => {
    throw damaged(error)
  })
  if (sha256 !== manifest.database.sha256) throw damaged()
  await copies.verify(database)
  const key = manifest.has_key_file
    ? await readFile(join(folder, keyFile)).catch((error: unknown) => {
        throw damaged(error)
      })
    : null
  return { name, manifest, database, key }
}

/** True when no migration was applied since the backup. False for a missing or damaged one. */
export async function isUnmigrated(dataDir: string, name: string, migrations: number): Promise<boolean> {
  const manifest = await readJson(join(backupsFolder(dataDir), name, manifestFile), Manifest).catch(
    () => null,
  )
  return manifest?.migrations === migrations
}

/** The names of all backups of a kind, oldest first. */
export async function listBackups(dataDir: string, reason: Manifest['reason']): Promise<string[]> {
  const names = await readdir(backupsFolder(dataDir)).catch(() => [])
  return names.filter((name) => name.startsWith(`${reason}-`)).sort()
}

/** Keeps the newest backups of a kind, and `needed` ones. */
export async function removeOldBackups(
  dataDir: string,
  reason: Manifest['reason'],
  needed: readonly (string | null)[],
): Promise<void> {
  const old = (await listBackups(dataDir, reason)).slice(0, -keptBackups)
  for (const name of old) if (!needed.includes(name)) await removeBackup(dataDir, name)
}

export async function removeBackup(dataDir: string, name: string): Promise<void> {
  await rm(join(backupsFolder(dataDir), name), { recursive: true, force: true })
}

export function backupsFolder(dataDir: string): string {
  return join(dataDir, 'upgrades')
}

/** The id of the key in use. Null without a key: one must not be made here. */
export function keyIdOf(key: KeySource, hasFile: boolean): string | null {
  return key.encryptionKey || hasFile ? openVault(key).keyId : null
}

/** Null when the key is in the environment, or there is none yet. */
export async function readKeyFile({ encryptionKey, dataDir }: KeySource): Promise<Buffer | null> {
  if (encryptionKey) return null
  return readFile(join(dataDir, keyFile)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
}

async function removeDrafts(parent: string): Promise<void> {
  for (const name of await readdir(parent))
    if (name.startsWith('.draft-')) await rm(join(parent, name), { recursive: true, force: true })
}

async function requireSpace(
  folder: string,
  bytes: number,
  free: (folder: string) => Promise<number>,
): Promise<void> {
  const available = await free(folder)
  if (available >= bytes + reserveBytes) return
  const mebibytes = (value: number) => `${Math.ceil(value / 1024 / 1024)} MiB`
  throw new UpgradeError(
    `${folder} has ${mebibytes(available)} free, and the backup needs up to ${mebibytes(bytes + reserveBytes)}.`,
  )
}

async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder)
  return bavail * bsize
}

async function flush(path: string): Promise<void> {
  const file = await open(path, 'r')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}

function safe(version: string): string {
  return version.replaceAll(/[^\w.-]/g, '-')
}
