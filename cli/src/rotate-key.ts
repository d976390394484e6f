import { mkdir, realpath } from 'node:fs/promises'
import { backUpFirst } from './backup.ts'
import { type Command, readArguments } from './command.ts'
import { acquireLock } from './machine/lock.ts'
import { repository } from './machine/repository.ts'
import { platformEnvironment, readDotenv } from './platform/environment.ts'
import { runStep } from './platform/run-step.ts'
import { ProcessFailed } from './platform/supervised-process.ts'
import { createProgress } from './terminal/progress.ts'

export const rotateKey: Command = {
  name: 'rotate-key',
  summary: 'Replace the encryption key of a stopped installation.',
  usage: [
    'roost rotate-key [--leaked] [--keep-unreadable] [--data-dir FOLDER]',
    '',
    '--leaked           others may know the old key: tokens of running turns end now, not within a day',
    '--keep-unreadable  continue when a value does not open with the current key, and leave it as it is',
    '--data-dir FOLDER  data folder of the installation (default ROOST_DATA_DIR or ./data)',
    '',
    'The platform must be stopped on every machine. Writes a backup first, then seals every value with a new key and',
    'reads it back. If that fails, nothing is changed. If the key is in ROOST_ENCRYPTION_KEY, the new one must be in',
    'ROOST_NEW_ENCRYPTION_KEY. The passphrase of the backup is prompted for or read from ROOST_BACKUP_PASSPHRASE.',
  ],
  async run(args) {
    const { values } = readArguments({
      args,
      options: {
        leaked: { type: 'boolean' },
        'keep-unreadable': { type: 'boolean' },
        'data-dir': { type: 'string' },
      },
    })
    const env = platformEnvironment({
      shell: process.env,
      dotenv: await readDotenv(repository.dotenv),
      options: { ROOST_DATA_DIR: values['data-dir'] },
      cwd: process.cwd(),
      root: repository.root,
    })
    if (env.ROOST_ENCRYPTION_KEY && !env.ROOST_NEW_ENCRYPTION_KEY) {
      console.error(
        'roost rotate-key: ROOST_ENCRYPTION_KEY is set, so set ROOST_NEW_ENCRYPTION_KEY to the new key: openssl rand -hex 32',
      )
      return 1
    }
    await mkdir(env.ROOST_DATA_DIR, { recursive: true, mode: 0o700 })
    // The lock of `roost up`: neither a start nor a second rotation can begin meanwhile.
    const lock = await acquireLock('up', await realpath(env.ROOST_DATA_DIR))
    if (!lock) {
      console.error('roost rotate-key: The platform is running on this data folder. Stop it first.')
      return 1
    }
    try {
      const code = await backUpFirst('rotate-key', env)
      return code === 0 ? await rotate(env, values) : code
    } finally {
      await lock.release()
    }
  },
}

async function rotate(
  env: NodeJS.ProcessEnv,
  flags: { leaked?: boolean | undefined; 'keep-unreadable'?: boolean | undefined },
): Promise<number> {
  const lines: string[] = []
  const args = (['leaked', 'keep-unreadable'] as const).filter((name) => flags[name])
  try {
    await createProgress().step('Sealing all values with the new key', (report) =>
      runStep({
        file: repository.rotateKey,
        args,
        env,
        cwd: repository.root,
        onProgress: (text) => {
          // Names of columns only show progress; sentences are the result.
          if (text.includes(' ')) lines.push(text)
          else report(text, 'transient')
        },
      }),
    )
    for (const line of lines) console.log(line)
    return 0
  } catch (error) {
    if (!(error instanceof ProcessFailed)) throw error
    console.error(`roost rotate-key: ${error.message}`)
    return error.exitCode
  }
}
