import { open, readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { environment, passphraseFor, passphraseName, runBackupProgram } from './backup-program.ts'
import { readArguments, UsageError } from './command.ts'
import { readRunning } from './machine/lock.ts'
import { repository } from './machine/repository.ts'
import { writeTarget } from './terminal/ask.ts'

const repositoryName = 'ROOST_BACKUP_REPOSITORY'
/** Paths of files; the program gets their content. */
const sshNames = {
  ROOST_BACKUP_SSH_KEY_FILE: 'ROOST_BACKUP_SSH_KEY',
  ROOST_BACKUP_KNOWN_HOSTS_FILE: 'ROOST_BACKUP_KNOWN_HOSTS',
}

export const repositoryHelp = [
  `--repository LOCATION  a folder, s3:https://host/bucket/path or sftp:user@host:/path (default ${repositoryName});`,
  '                       S3 reads AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, SFTP reads the paths',
  '                       ROOST_BACKUP_SSH_KEY_FILE and ROOST_BACKUP_KNOWN_HOSTS_FILE',
]

const text = { type: 'string' } as const
const flag = { type: 'boolean' } as const
const sourceOptions = { repository: text, snapshot: text, 'data-dir': text }
export const restoreOptions = { ...sourceOptions, agent: text, into: text, merge: flag, path: text, to: text }
type RestoreValues = { [Name in keyof typeof restoreOptions]?: string | boolean | undefined } & {
  repository?: string | undefined
  snapshot?: string | undefined
  'data-dir'?: string | undefined
  agent?: string | undefined
  into?: string | undefined
  merge?: boolean | undefined
  path?: string | undefined
  to?: string | undefined
}

const names = ['run', 'list', 'verify'] as const
export function isFullBackup(what: string): what is (typeof names)[number] {
  return names.some((name) => name === what)
}

/** `roost backup run`, `list` and `verify`. */
export async function runFullBackup(what: (typeof names)[number], args: string[]): Promise<number> {
  if (what === 'run') return run(args)
  const { values, positionals } = readArguments({ args, options: sourceOptions, allowPositionals: true })
  const env = await fullEnvironment(values['data-dir'])
  if (what === 'verify') {
    const from = fromOf(values, positionals, env)
    return perform('backup verify', { do: 'verify', from }, env)
  }
  if (positionals.length > 0 || values.snapshot) throw new UsageError('`list` only has --repository.')
  return perform('backup list', { do: 'list', repository: locationOf(values.repository, env) }, env)
}

async function run(args: string[]): Promise<number> {
  const options = { repository: text, file: text, force: flag, keep: text, 'data-dir': text }
  const { values } = readArguments({ args, options })
  const env = await fullEnvironment(values['data-dir'])
  const { dotenv } = repository
  if (values.file === undefined) {
    if (values.force) throw new UsageError('--force needs --file.')
    const location = locationOf(values.repository, env)
    const retention = values.keep === undefined ? null : readKeep(values.keep)
    return perform('backup run', { do: 'run', repository: location, retention, dotenv }, env, true)
  }
  if (values.repository || values.keep) throw new UsageError('Give --file or --repository, not both.')
  const to = resolve(process.cwd(), values.file)
  const target = await writeTarget(to, values.force === true)
  if (target === 'refused') {
    console.error('roost backup: Nothing was written.')
    return 1
  }
  return perform('backup run', { do: 'file', to, mayReplace: target === 'replace', dotenv }, env, true)
}

/** True unless the arguments are the restore of an archive of `roost backup` alone. */
export async function isFullRestore(values: RestoreValues, file: string | undefined): Promise<boolean> {
  if (Object.entries(values).some(([name, value]) => name !== 'data-dir' && value !== undefined)) return true
  if (file === undefined) return false
  const handle = await open(resolve(process.cwd(), file)).catch(() => null)
  if (!handle) return false
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(ageHeader.length), 0, ageHeader.length, 0)
    return buffer.subarray(0, bytesRead).toString('latin1') === ageHeader
  } finally {
    await handle.close()
  }
}
const ageHeader = 'age-encryption.org/v1'

/** `roost restore` of everything, of an agent or of a file. */
export async function runFullRestore(values: RestoreValues, positionals: string[]): Promise<number> {
  const env = await fullEnvironment(values['data-dir'])
  const from = fromOf(values, positionals, env)
  const { agent, into, merge, path, to } = values
  if (agent === undefined) {
    if (into ?? merge ?? path ?? to) throw new UsageError('--into, --merge, --path and --to need --agent.')
    if (await readRunning(env.ROOST_DATA_DIR)) {
      console.error('roost restore: The platform is running on this data folder. Stop it first.')
      return 1
    }
    return perform('restore', { do: 'restore', from }, env)
  }
  if ((path === undefined) !== (to === undefined)) throw new UsageError('--path and --to belong together.')
  if (path !== undefined && to !== undefined) {
    if (into ?? merge) throw new UsageError('--into and --merge restore a whole agent, not a file.')
    return perform('restore', { do: 'one-file', from, agent, path, to: resolve(process.cwd(), to) }, env)
  }
  const mustMerge = merge === true
  return perform('restore', { do: 'agent', from, agent, into: into ?? agent, mustMerge }, env)
}

function fromOf(values: RestoreValues, positionals: string[], env: NodeJS.ProcessEnv) {
  const [file, ...extra] = positionals
  if (extra.length > 0) throw new UsageError('Give exactly one FILE.')
  if (file === undefined)
    return { repository: locationOf(values.repository, env), snapshot: values.snapshot ?? 'latest' }
  if (values.repository || values.snapshot) throw new UsageError('Give FILE or --repository, not both.')
  return { file: resolve(process.cwd(), file) }
}

function locationOf(option: string | undefined, env: NodeJS.ProcessEnv): string {
  const location = option ?? env[repositoryName]
  if (!location) throw new UsageError(`Give --repository or set ${repositoryName}.`)
  return /^(s3|sftp):/.test(location) ? location : resolve(process.cwd(), location)
}

function readKeep(value: string) {
  const numbers = /^(\d{1,4}),(\d{1,4}),(\d{1,4})$/.exec(value)?.slice(1).map(Number)
  const [daily = 0, weekly = 0, monthly = 0] = numbers ?? []
  if (!numbers) throw new UsageError('--keep must be three numbers: days,weeks,months, such as 7,4,12.')
  return { daily, weekly, monthly }
}

async function fullEnvironment(
  dataDir: string | undefined,
): Promise<NodeJS.ProcessEnv & { ROOST_DATA_DIR: string }> {
  const env = { ...(await environment(dataDir)) }
  for (const [fileName, name] of Object.entries(sshNames)) {
    const path = env[fileName]
    if (!path) continue
    env[name] = await readFile(path, 'utf8').catch((error: Error) => {
      throw new UsageError(`${fileName} cannot be read: ${error.message}`)
    })
  }
  return env
}

async function perform(
  name: string,
  request: object,
  env: NodeJS.ProcessEnv,
  mustConfirm = false,
): Promise<number> {
  const passphrase = await passphraseFor(env, { mustConfirm })
  if (passphrase === null) throw new UsageError('The passphrases do not match.')
  return runBackupProgram(
    name,
    [JSON.stringify(request)],
    { ...env, [passphraseName]: passphrase },
    repository.fullBackup,
  )
}
