import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { link, rename, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import { extract, pack } from 'tar-stream'
import { z } from 'zod'

/** A fault of an archive or of its target, as a sentence for the user of the command. */
export class BackupError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'BackupError'
  }
}

const Sealed = z.object({
  kdf: z.literal('scrypt'),
  cost: z.number().int(),
  salt: z.string(),
  sealed: z.string(),
})

/** The first file of an archive: its origin, and the parts sealed with the passphrase. */
export const Manifest = z.object({
  format: z.literal(1),
  roost_version: z.string(),
  created_at: z.string(),
  dialect: z.enum(['sqlite', 'postgres']),
  /** Label of this installation's containers and volumes on the engine; null before a first start. */
  install_id: z.string().nullable(),
  database: z.object({ bytes: z.number().int(), sha256: z.string() }),
  encryption_key: Sealed,
  /** The `.env` file, if there was one. */
  environment: Sealed.nullable(),
})
export type Manifest = z.output<typeof Manifest>

const names = { manifest: 'manifest.json', database: 'database' }

/** Returns the size and digest of a file for the manifest. */
export async function measure(file: string): Promise<Manifest['database']> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file), hash)
  return { bytes: (await stat(file)).size, sha256: hash.digest('hex') }
}

/**
 * Writes an archive that only its owner can read. It is flushed to disk before it gets its name. `draft` is a path in a
 * private folder on the same file system. Throws `BackupError` when `to` exists and must not be replaced.
 */
export async function writeArchive(
  { to, draft, mayReplace }: { to: string; draft: string; mayReplace: boolean },
  manifest: Manifest,
  database: string,
): Promise<void> {
  const tar = pack()
  const file = createWriteStream(draft, { flags: 'wx', mode: 0o600, flush: true })
  const writing = pipeline(tar, createGzip(), file)
  const filling = (async () => {
    tar.entry({ name: names.manifest, mode: 0o600 }, JSON.stringify(manifest, null, 2))
    const entry = tar.entry({ name: names.database, mode: 0o600, size: manifest.database.bytes })
    await pipeline(createReadStream(database), entry)
    tar.finalize()
  })()
  await Promise.all([writing, filling])
  await publish({ to, draft, mayReplace })
}

/** Gives a complete draft its name. Throws `BackupError` when `to` exists and must not be replaced. */
export async function publish(names: { to: string; draft: string; mayReplace: boolean }): Promise<void> {
  const { to, draft, mayReplace } = names
  if (mayReplace) await rename(draft, to)
  else await linkOnce(draft, to)
}

/** Throws `BackupError` for a folder, and for an existing file that must not be replaced. */
export async function refuseTarget(to: string, mayReplace: boolean): Promise<void> {
  const found = await stat(to).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  if (found?.isDirectory()) throw new BackupError(`${to} is a folder. Give the name of a file.`)
  if (found && !mayReplace) throw alreadyThere(to)
}

/** Unlike a rename, a link never replaces a file that another process created meanwhile. */
async function linkOnce(draft: string, to: string): Promise<void> {
  try {
    await link(draft, to)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') throw alreadyThere(to)
    if (!linksUnsupported.includes(code ?? '')) throw error
    await refuseTarget(to, false)
    await rename(draft, to)
  }
}

/** Errors of file systems without hard links, such as FAT. */
const linksUnsupported = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']

function alreadyThere(to: string): BackupError {
  return new BackupError(`${to} exists already. Give another name, or replace it with --force.`)
}

/** Unpacks the database into `folder`. Throws `BackupError` for a foreign or damaged archive. */
export async function readArchive(
  from: string,
  folder: string,
): Promise<{ manifest: Manifest; database: string }> {
  const database = join(folder, names.database)
  const entries = extract()
  let manifest: Manifest | null = null
  const read = (async () => {
    for await (const entry of entries) {
      if (entry.header.name === names.manifest) manifest = Manifest.parse(JSON.parse(await text(entry)))
      else if (entry.header.name === names.database)
        await pipeline(entry, createWriteStream(database, { mode: 0o600 }))
      else entry.resume()
    }
  })()
  try {
    await Promise.all([pipeline(createReadStream(from), createGunzip(), entries), read])
  } catch (cause) {
    throw new BackupError(`${from} is no backup of Roost, or is damaged.`, { cause })
  }
  // Assigned in the callback above, which the compiler does not track.
  const found = manifest as Manifest | null
  if (!found) throw new BackupError(`${from} is no backup of Roost.`)
  const { sha256 } = await measure(database).catch(() => ({ sha256: '' }))
  if (sha256 !== found.database.sha256)
    throw new BackupError(`${from} is damaged: its database is not whole.`)
  return { manifest: found, database }
}

/** Creates a file that only its owner can read. Fails when it exists. */
export async function writePrivate(path: string, content: string): Promise<void> {
  await writeFile(path, content, { mode: 0o600, flag: 'wx' })
}
