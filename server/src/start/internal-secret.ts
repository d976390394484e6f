import { readFile, rename, writeFile } from 'node:fs/promises'
import { internalSecret } from '@roost/contracts/kit/internal-secret'
import type { Config } from '../config.ts'
import { newId } from '../kit/ids.ts'
import { type Secret, secret } from '../kit/secret.ts'

/** Returns the credential of the platform's own processes. Throws if the encryption key cannot be read. */
export async function openInternalSecret(
  config: Pick<Config, 'internalSecret' | 'internalSecretFile' | 'encryptionKey' | 'dataDir'>,
): Promise<Secret> {
  const sources = {
    ROOST_INTERNAL_SECRET: config.internalSecret?.reveal(),
    ROOST_INTERNAL_SECRET_FILE: config.internalSecretFile ?? undefined,
    ROOST_ENCRYPTION_KEY: config.encryptionKey?.reveal(),
    ROOST_DATA_DIR: config.dataDir,
  }
  return secret(await internalSecret(sources, (path) => readFile(path, 'utf8')))
}

/** Returns the credential from the key, never from the file, and writes the file for the processes without the key. */
export async function publishInternalSecret(
  config: Pick<Config, 'internalSecret' | 'internalSecretFile' | 'encryptionKey' | 'dataDir'>,
): Promise<Secret> {
  const found = await openInternalSecret({ ...config, internalSecretFile: null })
  const { internalSecretFile: path } = config
  if (path === null) return found
  // Several API processes may write it at the same time, and readers must never see a part.
  const draft = `${path}.${newId()}`
  await writeFile(draft, found.reveal(), { mode: 0o600 })
  await rename(draft, path)
  return found
}
