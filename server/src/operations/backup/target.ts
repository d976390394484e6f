import { resolve } from 'node:path'
import type { JobMount, VolumeJob, VolumeJobs } from '../../ports/volume-jobs/port.ts'
import { BackupError } from './archive.ts'

/** Credentials of a repository. Values never appear on a command line. */
export type RepositoryCredentials = {
  /** Of S3-compatible storage. */
  s3: { accessKeyId: string; secretAccessKey: string; region: string | null } | null
  /** Private key and known hosts of SFTP, as text of the files. */
  sftp: { privateKey: string; knownHosts: string } | null
}

export type RepositoryAddress = {
  /** As given, for messages. */
  address: string
  passphrase: string
  credentials: RepositoryCredentials
  /** Folder for restic's cache of a remote repository. */
  cacheFolder: string
}

export type Restic = {
  /** True for a folder of this machine. */
  isLocal: boolean
  folder: string | null
  /** Runs a script in which `restic` is the program with its options. */
  run(job: ResticJob): ReturnType<VolumeJobs['run']>
}
type ResticJob = Partial<Pick<VolumeJob, 'input' | 'output' | 'signal' | 'env'>> & {
  script: string
  mounts?: readonly JobMount[]
}

const sftpForm =
  /^sftp:(?:\/\/)?(?:([a-zA-Z0-9_][\w.-]*)@)?([a-zA-Z0-9][\w.-]*)(?::(\d{1,5}))?(?::|\/)([^-].*)$/

/**
 * Reads a repository's address: a folder, `s3:https://host/bucket/path` or `sftp:user@host:/path`. Returns the rule
 * that it violates, as the rest of a sentence.
 */
export function addressProblem(address: string): string | null {
  if (/[\n\r\0]/.test(address) || address.length > 1000) return 'must be one line of text'
  if (address.startsWith('s3:'))
    return /^s3:https?:\/\/[\w.:[\]-]+\/[\w.-]+(\/[\w./-]*)?$/.test(address)
      ? null
      : 'must have the form s3:https://host/bucket/path'
  if (address.startsWith('sftp:'))
    return sftpForm.test(address) ? null : 'must have the form sftp:user@host:/path'
  if (address.startsWith('/')) return null
  return 'must be the full path of a folder, or start with s3: or sftp:'
}

/** Opens a repository without a request. Throws `BackupError` for an invalid address. */
export function openRestic(jobs: VolumeJobs, options: RepositoryAddress): Restic {
  const { address, passphrase, credentials, cacheFolder } = options
  const problem = addressProblem(address)
  if (problem) throw new BackupError(`The repository ${problem}.`)
  const folder = address.startsWith('/') ? resolve(address) : null
  const { s3, sftp } = credentials
  if (address.startsWith('s3:') && s3 === null)
    throw new BackupError('The repository needs the access key of the storage.')
  if (address.startsWith('sftp:') && sftp === null)
    throw new BackupError('The repository needs an SSH key and the known hosts.')
  const base: Record<string, string> = {
    RESTIC_PASSWORD: passphrase,
    RESTIC_REPOSITORY: folder === null ? address : '/repository',
    ...(s3 && {
      AWS_ACCESS_KEY_ID: s3.accessKeyId,
      AWS_SECRET_ACCESS_KEY: s3.secretAccessKey,
      ...(s3.region && { AWS_DEFAULT_REGION: s3.region }),
    }),
    ...(sftp && {
      ROOST_SSH_KEY: Buffer.from(`${sftp.privateKey.trim()}\n`).toString('base64'),
      ROOST_SSH_HOSTS: Buffer.from(`${sftp.knownHosts.trim()}\n`).toString('base64'),
    }),
  }
  const prelude = folder !== null ? local : address.startsWith('sftp:') ? sftpPrelude(address) : remote
  return {
    isLocal: folder !== null,
    folder,
    run: ({ script, mounts = [], env = {}, ...streams }) =>
      jobs.run({
        ...streams,
        script: `set -e\n${prelude}${script}`,
        env: { ...base, ...env },
        hasNetwork: folder === null,
        // restic repeats a failed read for 15 minutes. In a folder, a second attempt reads the same.
        ...(folder === null ? {} : { failOn: /returned error, retrying after/ }),
        mounts: [
          ...mounts,
          folder === null
            ? { type: 'folder', source: cacheFolder, target: '/cache', readOnly: false }
            : { type: 'folder', source: folder, target: '/repository', readOnly: false },
        ],
      }),
  }
}

/** `restic` with its options, as a function of the job's shell. */
const local = 'restic() { command restic --no-cache "$@"; }\n'

const remote = 'restic() { command restic --cache-dir /cache "$@"; }\n'

/** The key is in a file because ssh reads none from a variable; the file is in memory and ends with the job. */
function sftpPrelude(address: string): string {
  const [, user, host = '', port] = sftpForm.exec(address) ?? []
  const login = user === undefined ? host : `${user}@${host}`
  const ssh = `ssh ${port === undefined ? '' : `-p ${port} `}-i /run/key -o UserKnownHostsFile=/run/hosts -o StrictHostKeyChecking=yes -o BatchMode=yes -o IdentitiesOnly=yes ${login} -s sftp`
  return `(umask 077; printf %s "$ROOST_SSH_KEY" | base64 -d > /run/key)
printf %s "$ROOST_SSH_HOSTS" | base64 -d > /run/hosts
unset ROOST_SSH_KEY ROOST_SSH_HOSTS
restic() { command restic --cache-dir /cache -o sftp.command='${ssh}' "$@"; }
`
}
