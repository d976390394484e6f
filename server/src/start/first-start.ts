import { existsSync } from 'node:fs'
import { link, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { KeyFileError, type KeySource, openVault } from '../foundation/vault/index.ts'
import { newId } from '../kit/ids.ts'

const idFile = 'install-id'

/**
 * The key that secrets are sealed with is made at the first start, and only then: with a new one, nothing that was
 * sealed before would open. Called before `installId`, whose file is what tells that there was a start. Throws
 * `KeyFileError`.
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

/** Tells this installation's containers and volumes from another's on the same engine. */
export async function installId(dataDir: string): Promise<string> {
  const path = join(dataDir, idFile)
  const known = await read(path)
  if (known) return known
  // Under its name only when it is complete: half of one, of a disk that was full, would be nobody's.
  const draft = `${path}.${newId()}`
  try {
    await writeFile(draft, newId(), { mode: 0o600 })
    // Of two processes that start at once, one makes the file and both read it; an empty one is replaced.
    if (known === null) await link(draft, path).catch(unlessThere)
    else await rename(draft, path)
  } finally {
    await rm(draft, { force: true })
  }
  return (await read(path)) ?? ''
}

/** Null when it is not there. */
async function read(path: string): Promise<string | null> {
  try {
    return (await readFile(path, 'utf8')).trim()
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
}

function unlessThere(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error
}
