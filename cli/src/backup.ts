import { resolve } from 'node:path'
import { askHidden } from './client/hidden-input.ts'
import { type Command, readArguments, UsageError } from './command.ts'
import { readRunning } from './machine/lock.ts'
import { repository } from './machine/repository.ts'
import { platformEnvironment, readDotenv } from './platform/environment.ts'
import { ProcessFailed } from './platform/kept-process.ts'
import { runStep } from './platform/run-step.ts'
import { writeTarget } from './terminal/ask.ts'

const passphraseName = 'ROOST_BACKUP_PASSPHRASE'
const aboutPassphrase = [
  `The passphrase is asked for, or taken from ${passphraseName} or from what is piped in. Without it the`,
  'encryption key of a backup is lost, and with that every secret in it.',
]

export const backup: Command = {
  name: 'backup',
  summary: 'Write one archive of the database, the encryption key and the settings.',
  usage: [
    'roost backup [--to FILE [--force]] [--data-dir FOLDER]',
    '',
    '--to FILE          the archive (backups/roost-<time>.tar.gz in the data folder, where old ones are removed)',
    '--force            replace FILE when it exists; without it, a person is asked and a script is refused',
    '--data-dir FOLDER  of the installation (ROOST_DATA_DIR, ./data)',
    '',
    'The platform may run meanwhile. The workspaces of agents are volumes of the container engine, and not in it.',
    ...aboutPassphrase,
  ],
  async run(args) {
    const { values } = readArguments({
      args,
      options: { 'data-dir': { type: 'string' }, to: { type: 'string' }, force: { type: 'boolean' } },
    })
    const to = values.to === undefined ? '' : resolve(process.cwd(), values.to)
    const target = await writeTarget(to, values.force === true)
    if (target === 'refused') {
      console.error('roost backup: Nothing was written.')
      return 1
    }
    const env = await environment(values['data-dir'])
    const passphrase = await passphraseFor(env, { twice: true })
    if (passphrase === null) throw new UsageError('The two passphrases are not the same.')
    return step('backup', ['save', to, repository.dotenv, target], { ...env, [passphraseName]: passphrase })
  },
}

export const restore: Command = {
  name: 'restore',
  summary: 'Put a backup into an installation that has no data yet.',
  usage: [
    'roost restore FILE [--data-dir FOLDER]',
    '',
    'FILE               the archive that `roost backup` wrote',
    '--data-dir FOLDER  of the installation to put it into (ROOST_DATA_DIR, ./data); its database must be empty',
    '',
    'Start the platform afterwards: `roost up` brings the database up to date.',
    ...aboutPassphrase,
  ],
  async run(args) {
    const { values, positionals } = readArguments({
      args,
      options: { 'data-dir': { type: 'string' } },
      allowPositionals: true,
    })
    const [file, ...others] = positionals
    if (file === undefined || others.length > 0) throw new UsageError('Name one archive.')
    const env = await environment(values['data-dir'])
    if (await readRunning(env.ROOST_DATA_DIR)) {
      console.error('roost restore: the platform runs on this data folder. Stop it first.')
      return 1
    }
    const passphrase = (await passphraseFor(env, { twice: false })) ?? ''
    return step('restore', ['restore', resolve(process.cwd(), file)], {
      ...env,
      [passphraseName]: passphrase,
    })
  },
}

async function environment(dataDir: string | undefined) {
  return platformEnvironment({
    shell: process.env,
    dotenv: await readDotenv(repository.dotenv),
    options: { ROOST_DATA_DIR: dataDir },
    cwd: process.cwd(),
    root: repository.root,
  })
}

/** Null: it was typed in two ways. */
async function passphraseFor(env: NodeJS.ProcessEnv, { twice }: { twice: boolean }): Promise<string | null> {
  const given = env[passphraseName]
  if (given) return given
  const typed = await askHidden('Passphrase: ')
  if (!twice || !process.stdin.isTTY) return typed
  return (await askHidden('Again: ')) === typed ? typed : null
}

async function step(name: string, args: string[], env: NodeJS.ProcessEnv): Promise<number> {
  try {
    const onProgress = (line: string) => console.log(line)
    await runStep({ file: repository.backup, args, env, cwd: repository.root, onProgress })
    return 0
  } catch (error) {
    if (!(error instanceof ProcessFailed)) throw error
    console.error(`roost ${name}: ${error.message}`)
    return error.exitCode
  }
}
