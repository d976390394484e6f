import { existsSync } from 'node:fs'
import { link, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { KeyFileError, type KeySource, openVault } from '../foundation/vault/index.ts'
import { newId } from '../kit/ids.ts'

const idFile = 'install-id'

/**
 * Creates the encryption key at the first start only: a new key could not decrypt the stored secrets. Call it
 * before `installId`, whose file marks the first start. Throws `KeyFileError`.
 */
export function ensureKey(source: KeySource): void {
  const path = join(source.dataDir, 'encryption.key')
  const isLost = !source.encryptionKey && !existsSync(path) && existsSync(join(source.dataDir, idFile))
  if (isLost) {
    throw new KeyFileError(
      `${path} is gone, and the secrets in the database need it. Bring it back from a backup, or set ROOST_ENCRYPTION_KEY if it was there. ` +
        `If it is lost for good: openssl rand -hex 32 > ${path} && chmod 600 ${path}, then ./roost rotate-key --keep-unreadable, and enter every key and credential anew.`,
    )
  }
  openVault(source)
}

/** The engine filter and the data folder belong to different installations, or the filter has not started. */
export class InstallIdError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'InstallIdError'
  }
}

/**
 * Returns the id that separates this installation's containers and volumes from others on the same engine. `given` is
 * the file of an engine filter, whose id is taken at the first start. Throws `InstallIdError`.
 */
export async function installId(dataDir: string, given: string | null = null): Promise<string> {
  const path = join(dataDir, idFile)
  const required = given === null ? null : await read(given)
  if (given !== null && !required)
    throw new InstallIdError(`${given} is missing or empty: start the engine filter first.`)
  const stored = await readOrCreate(path, required ?? newId())
  if (required && stored !== required) {
    throw new InstallIdError(
      `The data folder belongs to the installation ${stored}, and the engine filter to ${required}. ` +
        `Start the filter once with ROOST_INSTALL_ID=${stored} to give it the containers of this data folder.`,
    )
  }
  return stored
}

async function readOrCreate(path: string, id: string): Promise<string> {
  const stored = await read(path)
  if (stored) return stored
  // Written to a draft first, because a full disk could leave an incomplete file.
  const draft = `${path}.${newId()}`
  try {
    await writeFile(draft, id, { mode: 0o600 })
    // Of two concurrent starts one creates the file and both read it. An empty file is replaced.
    if (stored === null) await link(draft, path).catch(ignoreExisting)
    else await rename(draft, path)
  } finally {
    await rm(draft, { force: true })
  }
  return (await read(path)) ?? ''
}

/** Returns null if the file does not exist. */
async function read(path: string): Promise<string | null> {
  try {
    return (await readFile(path, 'utf8')).trim()
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
}

function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error
}
