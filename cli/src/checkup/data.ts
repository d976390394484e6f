import { access, constants, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { repository } from '../machine/repository.ts'
import { providersWithKey } from '../platform/environment.ts'
import { exitConfig } from '../platform/messages.ts'
import { runStep } from '../platform/run-step.ts'
import { ProcessFailed } from '../platform/supervised-process.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

/** Checks the data folder, the encryption key and the provider keys. */
export async function checkData(env: NodeJS.ProcessEnv & { ROOST_DATA_DIR: string }): Promise<Finding[]> {
  const dataDir = env.ROOST_DATA_DIR
  return [
    ...(await checkFolder(dataDir)),
    ...(await checkKeyFile(dataDir, env)),
    await checkInstallation(env),
    checkProviders(env),
  ]
}

/** A process with the key or id of another installation refuses to start. */
async function checkInstallation(env: NodeJS.ProcessEnv): Promise<Finding> {
  const about = 'installation'
  const lines: string[] = []
  try {
    await runStep({
      file: repository.checkInstallation,
      env,
      cwd: repository.root,
      onProgress: (line) => lines.push(line),
    })
    return ok(about, lines.join(', '))
  } catch (error) {
    if (!(error instanceof ProcessFailed)) throw error
    return error.exitCode === exitConfig
      ? fail(about, error.message, 'the platform refuses to start until this is corrected')
      : warn(about, `not checked: ${error.message}`, 'check ROOST_DATABASE_URL')
  }
}

async function checkFolder(dataDir: string): Promise<Finding[]> {
  const about = 'data folder'
  const stats = await stat(dataDir).catch((error: NodeJS.ErrnoException) => error)
  if (stats instanceof Error) {
    return stats.code === 'ENOENT'
      ? [ok(about, `${dataDir} will be created at the first start`)]
      : [fail(about, `${dataDir}: ${stats.message}`, 'give this user access to it, or set ROOST_DATA_DIR')]
  }
  if (!stats.isDirectory())
    return [fail(about, `${dataDir} is not a folder`, 'move it away, or set ROOST_DATA_DIR')]
  const isWritable = await access(dataDir, constants.R_OK | constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  )
  if (!isWritable)
    return [fail(about, `${dataDir} is not writable by this user`, `chown it to the user that runs Roost`)]
  return stats.mode & 0o002
    ? [fail(about, `${dataDir} is writable by everybody`, `chmod o-w ${dataDir}`)]
    : [ok(about, dataDir)]
}

async function checkKeyFile(dataDir: string, env: NodeJS.ProcessEnv): Promise<Finding[]> {
  const about = 'encryption key'
  if (env.ROOST_ENCRYPTION_KEY) return [ok(about, 'from ROOST_ENCRYPTION_KEY')]
  const path = join(dataDir, 'encryption.key')
  const stats = await stat(path).catch(() => null)
  if (stats) {
    return stats.mode & 0o077
      ? [fail(about, `${path} is readable by other users`, `chmod 600 ${path}`)]
      : [ok(about, `${path}, readable only by its owner`)]
  }
  // The API creates the key, then `install-id`. An interrupted first start leaves neither.
  const wasStarted = await access(join(dataDir, 'install-id')).then(
    () => true,
    () => false,
  )
  return wasStarted
    ? [
        fail(
          about,
          `${path} is missing, and stored secrets cannot be decrypted without it`,
          'restore it from a backup',
        ),
      ]
    : [ok(about, 'will be created at the first start')]
}

/** Reports only the providers' names, never a key. */
function checkProviders(env: NodeJS.ProcessEnv): Finding {
  const about = 'model providers'
  const names = providersWithKey(env)
  return names.length > 0
    ? ok(about, `keys set for ${names.join(', ')}`)
    : warn(
        about,
        'no key in the environment or in .env',
        'set ANTHROPIC_API_KEY, GEMINI_API_KEY or OPENAI_API_KEY, store one in the settings, or try ./roost up --demo',
      )
}
