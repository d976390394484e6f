import { access, constants, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { providersWithKey } from '../platform/environment.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

/** What is kept on disk, and the keys of providers. */
export async function checkData(env: NodeJS.ProcessEnv & { ROOST_DATA_DIR: string }): Promise<Finding[]> {
  const dataDir = env.ROOST_DATA_DIR
  return [...(await checkFolder(dataDir)), ...(await checkKeyFile(dataDir, env)), checkProviders(env)]
}

async function checkFolder(dataDir: string): Promise<Finding[]> {
  const about = 'data folder'
  const found = await stat(dataDir).catch((error: NodeJS.ErrnoException) => error)
  if (found instanceof Error) {
    return found.code === 'ENOENT'
      ? [ok(about, `${dataDir} will be made at the first start`)]
      : [fail(about, `${dataDir}: ${found.message}`, 'let this user reach it, or set ROOST_DATA_DIR')]
  }
  if (!found.isDirectory())
    return [fail(about, `${dataDir} is no folder`, 'move it away, or set ROOST_DATA_DIR')]
  const isWritable = await access(dataDir, constants.R_OK | constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  )
  if (!isWritable)
    return [fail(about, `${dataDir} cannot be written by this user`, `chown it to the user of Roost`)]
  return found.mode & 0o002
    ? [fail(about, `${dataDir} can be written by everybody`, `chmod o-w ${dataDir}`)]
    : [ok(about, dataDir)]
}

async function checkKeyFile(dataDir: string, env: NodeJS.ProcessEnv): Promise<Finding[]> {
  const about = 'encryption key'
  if (env.ROOST_ENCRYPTION_KEY) return [ok(about, 'from ROOST_ENCRYPTION_KEY')]
  const path = join(dataDir, 'encryption.key')
  const found = await stat(path).catch(() => null)
  if (found) {
    return found.mode & 0o077
      ? [fail(about, `${path} can be read by others than its owner`, `chmod 600 ${path}`)]
      : [ok(about, `${path}, readable by its owner alone`)]
  }
  // The API makes the key and then this file, wherever the database is. A first start that was cut off left neither.
  const wasStarted = await access(join(dataDir, 'install-id')).then(
    () => true,
    () => false,
  )
  return wasStarted
    ? [fail(about, `${path} is gone, and the secrets in the database need it`, 'bring it back from a backup')]
    : [ok(about, 'will be made at the first start')]
}

/** Names only: a key is never printed. */
function checkProviders(env: NodeJS.ProcessEnv): Finding {
  const about = 'model providers'
  const names = providersWithKey(env)
  return names.length > 0
    ? ok(about, `keys are set for ${names.join(', ')}`)
    : warn(
        about,
        'no key is set in the environment or in .env',
        'set ANTHROPIC_API_KEY, GEMINI_API_KEY or OPENAI_API_KEY, unless one is stored in the settings; or ./roost up --demo',
      )
}
