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
        `If it is lost for good: openssl rand -hex 32 > ${path} && chmod 600 ${path}, then enter every key and credential anew.`,
    )
  }
  openVault(source)
}

/** Returns the id that separates this installation's containers and volumes from others on the same engine. */
export async function installId(dataDir: string): Promise<string> {
  const path = join(dataDir, idFile)
  const stored = await read(path)
  if (stored) return stored
  // Written to a draft first, because a full disk could leave an incomplete file.
  const draft = `${path}.${newId()}`
  try {
    await writeFile(draft, newId(), { mode: 0o600 })
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
