import { type ChildProcess, fork } from 'node:child_process'
import { realpath } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { redactText } from '@roost/contracts/kit/redact'
import { maskText } from '../kit/mask-secrets.ts'
import { isRunning } from '../ports/agent-images/single-flight.ts'
import type { BackupProgram, BackupTask } from '../ports/backup-program/port.ts'
import type { VolumeJobs } from '../ports/volume-jobs/port.ts'
import type { ProcessMessage } from './supervision.ts'

const root = resolve(import.meta.dirname, '../../..')
const program = join(import.meta.dirname, 'full-backup.ts')
/** Of the parts of the API, which stops in order, this one has ten seconds. */
const stopGraceMs = 8_000
const maxOutputLength = 4_000

/** Variables with secrets of a backup. What the platform itself was started with does not apply. */
export const secretNames = [
  'ROOST_BACKUP_PASSPHRASE',
  'AWS_ACCESS_KEY_ID',
  'AWS_SECRET_ACCESS_KEY',
  'AWS_SESSION_TOKEN',
  'AWS_DEFAULT_REGION',
  'ROOST_BACKUP_SSH_KEY',
  'ROOST_BACKUP_KNOWN_HOSTS',
] as const

/** The lock of the kernel that a backup, restore or verification holds. */
export async function backupLock(dataDir: string): Promise<string> {
  return `backup ${await realpath(dataDir)}`
}

export function openBackupProgram(options: {
  containersUrl: string
  dataDir: string
  jobs: Pick<VolumeJobs, 'problem'>
  env: NodeJS.ProcessEnv
}): BackupProgram {
  const { containersUrl, dataDir, jobs, env } = options
  return {
    problem: async () =>
      containersUrl.startsWith('fake:') ? 'The fake engine has no volumes to back up.' : jobs.problem(),
    isRunning: async () => isRunning(await backupLock(dataDir)),
    async run(task, signal) {
      if (signal.aborted) return 'The backup was interrupted.'
      const child = fork(program, [JSON.stringify(requestOf(task))], {
        env: { ...env, ...variablesOf(task) },
        cwd: root,
        execArgv: [],
        stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
        // The signals of a terminal reach only the supervisor, which stops the processes in order.
        detached: true,
      })
      const reason = await outcomeOf(child, signal)
      const secrets = Object.values(variablesOf(task)).filter((value) => value !== undefined)
      return reason === null ? null : redactText(maskText(reason, secrets))
    },
  }
}

function requestOf({ kind, repository, retention }: BackupTask): object {
  return kind === 'backup'
    ? { do: 'run', repository, retention, dotenv: join(root, '.env') }
    : { do: 'verify', from: { repository, snapshot: 'latest' } }
}

function variablesOf({ passphrase, s3, sftp }: BackupTask) {
  const values: Partial<Record<(typeof secretNames)[number], string>> = {
    ROOST_BACKUP_PASSPHRASE: passphrase.reveal(),
    ...(s3 && {
      AWS_ACCESS_KEY_ID: s3.accessKeyId,
      AWS_SECRET_ACCESS_KEY: s3.secretAccessKey.reveal(),
      ...(s3.region && { AWS_DEFAULT_REGION: s3.region }),
    }),
    ...(sftp && {
      ROOST_BACKUP_SSH_KEY: sftp.privateKey.reveal(),
      ROOST_BACKUP_KNOWN_HOSTS: sftp.knownHosts,
    }),
  }
  return Object.fromEntries(secretNames.map((name) => [name, values[name]]))
}

/** Null when the program succeeded. */
async function outcomeOf(child: ChildProcess, signal: AbortSignal): Promise<string | null> {
  let reason: string | null = null
  let output = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    output = (output + text).slice(-maxOutputLength)
  })
  child.on('message', (message: ProcessMessage) => {
    if (message.type === 'fatal') reason = message.reason
  })
  child.on('error', (error) => {
    reason = error.message
  })
  let timer: NodeJS.Timeout | undefined
  const stop = () => {
    child.kill('SIGTERM')
    timer = setTimeout(() => child.kill('SIGKILL'), stopGraceMs)
  }
  signal.addEventListener('abort', stop, { once: true })
  const code = await new Promise<number | null>((ended) => child.on('close', ended))
  signal.removeEventListener('abort', stop)
  clearTimeout(timer)
  if (code === 0) return null
  return reason ?? (output.trim() || 'The backup program was terminated.')
}
