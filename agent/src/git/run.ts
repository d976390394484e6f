import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { type GitTransfer, gitCallSeconds } from '@roost/contracts/link/git'
import type { Identities } from '../processes/identity.ts'

/** `isTruncated`: the output was longer than this program keeps. */
export type GitRun = { ok: boolean; output: string; error: string; isTruncated: boolean }

export type RunGitOptions = {
  home: string
  path: string
  identities: Identities
  /** Author and committer of commits. */
  author: string
}

export type RunGit = (
  args: string[],
  options?: {
    transfer?: GitTransfer
    signal?: AbortSignal
    /** Text for its standard input, such as a commit message: command lines are visible to all users. */
    input?: string
    /** Stops git after this many bytes of output; that counts as success. */
    maxBytes?: number
  },
) => Promise<GitRun>

const maxOutputBytes = 4 * 1024 * 1024
const maxErrorLength = 4000

/**
 * Runs git in the workspace as the developer, without hooks, helpers or prompts. Network requests go only to
 * the platform. The ticket is passed in the environment, not in the arguments.
 */
export function createRunGit({ home, path, identities, author }: RunGitOptions): RunGit {
  return (args, { transfer, signal, input, maxBytes } = {}) =>
    new Promise((resolve) => {
      const { command, args: all, options: asUser } = identities.as(identities.developer, 'git', args)
      const child = spawn(command, all, {
        ...asUser,
        cwd: home,
        env: environment({ home, path, author, transfer }),
        stdio: ['pipe', 'pipe', 'pipe'],
        detached: true,
        timeout: (gitCallSeconds - 10) * 1000,
        killSignal: 'SIGKILL',
        ...(signal ? { signal } : {}),
      })
      // Git may end before it has read everything.
      child.stdin.on('error', () => {})
      child.stdin.end(input ?? '')
      const output: Buffer[] = []
      let size = 0
      let error = ''
      let hasReachedLimit = false
      child.stdout.on('data', (chunk: Buffer) => {
        size += chunk.length
        if (size <= maxOutputBytes) output.push(chunk)
        if (maxBytes === undefined || size < maxBytes) return
        hasReachedLimit = true
        child.stdout.destroy()
      })
      child.stderr.on('data', (chunk: Buffer) => {
        error = (error + chunk.toString('utf8')).slice(-maxErrorLength)
      })
      child.once('error', (fault) =>
        resolve({ ok: false, output: '', error: fault.message, isTruncated: false }),
      )
      child.once('close', (code) => {
        // Git may leave child processes behind.
        if (child.pid !== undefined) killGroup(child.pid)
        const ok = code === 0 || hasReachedLimit
        const text = Buffer.concat(output).toString('utf8')
        resolve({ ok, output: text, error, isTruncated: size > maxOutputBytes })
      })
    })
}

type Facts = { home: string; path: string; author: string; transfer: GitTransfer | undefined }

function environment({ home, path, author, transfer }: Facts): Record<string, string> {
  const settings: [string, string][] = [
    ['safe.directory', '*'],
    ['core.sharedRepository', 'group'],
    ['core.hooksPath', '/dev/null'],
    ['core.fsmonitor', 'false'],
    ['core.quotePath', 'false'],
    ['credential.helper', ''],
    ['commit.gpgSign', 'false'],
    ['submodule.recurse', 'false'],
    ['http.proxy', ''],
    ['http.followRedirects', 'false'],
    ['push.recurseSubmodules', 'no'],
    ['push.gpgSign', 'false'],
    ['log.showSignature', 'false'],
    ['core.alternateRefsCommand', '/bin/true'],
    ['gc.auto', '0'],
    ['maintenance.auto', 'false'],
    ...(transfer ? httpSettings(transfer) : []),
  ]
  const email = `${author}@agents.roost.local`
  return {
    PATH: path,
    HOME: home,
    LC_ALL: 'C',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ASKPASS: '/bin/false',
    GIT_EDITOR: '/bin/true',
    GIT_SEQUENCE_EDITOR: '/bin/true',
    GIT_DIR: join(home, '.git'),
    GIT_WORK_TREE: home,
    GIT_ALLOW_PROTOCOL: 'http',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    ...Object.fromEntries(
      ['AUTHOR', 'COMMITTER'].flatMap((role) => [
        [`GIT_${role}_NAME`, author],
        [`GIT_${role}_EMAIL`, email],
      ]),
    ),
    GIT_CONFIG_COUNT: String(settings.length),
    ...Object.fromEntries(
      settings.flatMap(([name, value], index) => [
        [`GIT_CONFIG_KEY_${index}`, name],
        [`GIT_CONFIG_VALUE_${index}`, value],
      ]),
    ),
  }
}

/** For this address, because the repository may have settings for it, which take precedence over general ones. */
function httpSettings({ url, ticket }: GitTransfer): [string, string][] {
  return [
    ['proxy', ''],
    ['followRedirects', 'false'],
    ['saveCookies', 'false'],
    ['curloptResolve', ''],
    ['extraHeader', `Authorization: Bearer ${ticket}`],
  ].map(([name, value]) => [`http.${url}.${name}`, value ?? ''])
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // The group has no process left.
  }
}
