import { resolve } from 'node:path'
import {
  environment,
  passphraseFor,
  passphraseHelp,
  passphraseName,
  runBackupProgram,
} from './backup-program.ts'
import { type Command, readArguments, UsageError } from './command.ts'
import {
  isFullBackup,
  isFullRestore,
  repositoryHelp,
  restoreOptions,
  runFullBackup,
  runFullRestore,
} from './full-backup.ts'
import { readRunning } from './machine/lock.ts'
import { repository } from './machine/repository.ts'
import { writeTarget } from './terminal/ask.ts'

export const backup: Command = {
  name: 'backup',
  summary: 'Back up the installation, list its backups or verify one.',
  usage: [
    'roost backup run [--repository LOCATION | --file FILE [--force]] [--keep D,W,M]',
    'roost backup list [--repository LOCATION]',
    'roost backup verify [FILE | --repository LOCATION [--snapshot ID]]',
    'roost backup [--to FILE [--force]] [--data-dir FOLDER]',
    '',
    'run      back up everything, workspaces included, into a repository or one encrypted file',
    'list     list the snapshots of a repository, oldest first',
    'verify   restore a backup into a scratch installation, compare it and remove it again',
    'Without one of them, only the database, the encryption key and the settings are written.',
    '',
    ...repositoryHelp,
    '--file FILE            encrypted file in the age format',
    '--keep D,W,M           after the backup, keep the newest of D days, W weeks and M months',
    '--snapshot ID          snapshot of the list (default latest)',
    '',
    '--to FILE          archive to write (default backups/roost-<time>.tar.gz in the data folder; old ones are pruned)',
    '--force            replace an existing FILE; without it, asks on a terminal and fails in a script',
    '--data-dir FOLDER  data folder of the installation (default ROOST_DATA_DIR or ./data)',
    '',
    'The platform may run meanwhile.',
    ...passphraseHelp,
  ],
  completions: ['run', 'list', 'verify'],
  async run(args) {
    const [what = '', ...rest] = args
    if (isFullBackup(what)) return runFullBackup(what, rest)
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
    'roost restore --repository LOCATION [--snapshot ID] [--data-dir FOLDER]',
    'roost restore (FILE | --repository LOCATION) --agent NAME [--into NAME] [--merge]',
    'roost restore (FILE | --repository LOCATION) --agent NAME --path PATH --to FILE',
    '',
    'FILE               the file that `roost backup` wrote',
    ...repositoryHelp,
    '--snapshot ID      snapshot of `roost backup list` (default latest)',
    '--agent NAME       only the files of this agent, into the existing agent of that name',
    '--into NAME        another existing agent to restore into',
    '--merge            keep files that the backup does not have; without it, they are deleted',
    '--path PATH        only this file of the agent’s workspace',
    '--to FILE          where to write that file; it must not exist',
    '--data-dir FOLDER  data folder to restore into (default ROOST_DATA_DIR or ./data); its database must be empty',
    '',
    'Start the platform afterwards: `roost up` upgrades the database.',
    ...passphraseHelp,
  ],
  async run(args) {
    const { values, positionals } = readArguments({
      args,
      options: { ...restoreOptions, 'data-dir': { type: 'string' } },
      allowPositionals: true,
    })
    const [file, ...extra] = positionals
    if (await isFullRestore(values, file)) return runFullRestore(values, positionals)
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

/** Writes an archive into the data folder before a change that cannot be undone. Returns the exit code. */
export async function backUpFirst(name: string, env: NodeJS.ProcessEnv): Promise<number> {
  const passphrase = await passphraseFor(env, { mustConfirm: true })
  if (passphrase === null) throw new UsageError('The passphrases do not match.')
  return runBackupProgram(name, ['save', '', repository.dotenv, ''], { ...env, [passphraseName]: passphrase })
}
