import { resolve } from 'node:path'
import { askHidden } from './client/hidden-input.ts'
import { type Command, readArguments, UsageError } from './command.ts'
import { readRunning } from './machine/lock.ts'
import { repository } from './machine/repository.ts'
import { platformEnvironment, readDotenv } from './platform/environment.ts'
import { runStep } from './platform/run-step.ts'
import { ProcessFailed } from './platform/supervised-process.ts'
import { writeTarget } from './terminal/ask.ts'

const passphraseName = 'ROOST_BACKUP_PASSPHRASE'
const passphraseHelp = [
  `The passphrase (at least 12 characters) is prompted for, or read from ${passphraseName} or standard`,
  'input. Without it the encryption key in the backup is lost, and with it every secret.',
]

export const backup: Command = {
  name: 'backup',
  summary: 'Write one archive of the database, the encryption key and the settings.',
  usage: [
    'roost backup [--to FILE [--force]] [--data-dir FOLDER]',
    '',
    '--to FILE          archive to write (default backups/roost-<time>.tar.gz in the data folder; old ones are pruned)',
    '--force            replace an existing FILE; without it, asks on a terminal and fails in a script',
    '--data-dir FOLDER  data folder of the installation (default ROOST_DATA_DIR or ./data)',
    '',
    'The platform may run meanwhile. Agents’ workspaces are volumes of the container engine and are not included.',
    ...passphraseHelp,
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
    const passphrase = await passphraseFor(env, { mustConfirm: true })
    if (passphrase === null) throw new UsageError('The passphrases do not match.')
    return runBackupProgram('backup', ['save', to, repository.dotenv, target], {
      ...env,
      [passphraseName]: passphrase,
    })
  },
}

export const restore: Command = {
  name: 'restore',
  summary: 'Restore a backup into an installation without data.',
  usage: [
    'roost restore FILE [--data-dir FOLDER]',
    '',
    'FILE               the archive that `roost backup` wrote',
    '--data-dir FOLDER  data folder to restore into (default ROOST_DATA_DIR or ./data); its database must be empty',
    '',
    'Start the platform afterwards: `roost up` upgrades the database.',
    ...passphraseHelp,
  ],
  async run(args) {
    const { values, positionals } = readArguments({
      args,
      options: { 'data-dir': { type: 'string' } },
      allowPositionals: true,
    })
    const [file, ...extra] = positionals
    if (file === undefined || extra.length > 0) throw new UsageError('Give exactly one FILE.')
    const env = await environment(values['data-dir'])
    if (await readRunning(env.ROOST_DATA_DIR)) {
      console.error('roost restore: The platform is running on this data folder. Stop it first.')
      return 1
    }
    const passphrase = (await passphraseFor(env, { mustConfirm: false })) ?? ''
    return runBackupProgram('restore', ['restore', resolve(process.cwd(), file)], {
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

/** Returns null when the confirmation differs. */
async function passphraseFor(
  env: NodeJS.ProcessEnv,
  { mustConfirm }: { mustConfirm: boolean },
): Promise<string | null> {
  const fromEnvironment = env[passphraseName]
  if (fromEnvironment) return fromEnvironment
  const typed = await askHidden('Passphrase: ')
  if (!mustConfirm || !process.stdin.isTTY) return typed
  return (await askHidden('Confirm passphrase: ')) === typed ? typed : null
}

async function runBackupProgram(name: string, args: string[], env: NodeJS.ProcessEnv): Promise<number> {
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
