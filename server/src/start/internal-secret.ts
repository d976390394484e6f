import { readFile } from 'node:fs/promises'
import { internalSecret } from '@roost/contracts/kit/internal-secret'
import type { Config } from '../config.ts'
import { type Secret, secret } from '../kit/secret.ts'

/** Returns the credential of the platform's own processes. Throws if the encryption key cannot be read. */
export async function openInternalSecret(
  config: Pick<Config, 'internalSecret' | 'encryptionKey' | 'dataDir'>,
): Promise<Secret> {
  const sources = {
    ROOST_INTERNAL_SECRET: config.internalSecret?.reveal(),
    ROOST_ENCRYPTION_KEY: config.encryptionKey?.reveal(),
    ROOST_DATA_DIR: config.dataDir,
  }
  return secret(await internalSecret(sources, (path) => readFile(path, 'utf8')))
}
