import { spawn } from 'node:child_process'
import { type GitTransfer, gitCallSeconds } from '@roost/contracts/link/git'
import type { Identities } from '../processes/identity.ts'

export type GitRun = { ok: boolean; output: string; error: string }

export type RunGitOptions = {
  home: string
  path: string
  identities: Identities
  /** Shown as the author of commits. */
  author: string
}

export type RunGit = (
  args: string[],
  options?: {
    transfer?: GitTransfer
    signal?: AbortSignal
    /** Of output; git is ended when it has so many bytes, and that is none of its failures. */
    atMost?: number
  },
) => Promise<GitRun>

const keptBytes = 4 * 1024 * 1024
const keptErrors = 4000

/**
 * Git in the workspace, as the developer, without hooks, helpers and questions. What goes over the network goes
 * to the platform alone; its ticket stands in the environment and not in the arguments.
 */
export function createRunGit({ home, path, identities, author }: RunGitOptions): RunGit {
  return (args, { transfer, signal, atMost } = {}) =>
    new Promise((resolve) => {
      const { command, args: all } = identities.as('developer', 'git', args)
      const child = spawn(command, all, {
        cwd: home,
        env: environment({ home, path, author, transfer }),
        stdio: ['ignore', 'pipe', 'pipe'],
        detached: true,
        timeout: (gitCallSeconds - 10) * 1000,
        killSignal: 'SIGKILL',
        ...(signal ? { signal } : {}),
      })
      const output: Buffer[] = []
      let size = 0
      let error = ''
      let hasEnough = false
      child.stdout.on('data', (chunk: Buffer) => {
        size += chunk.length
        if (size <= keptBytes) output.push(chunk)
        if (atMost === undefined || size < atMost) return
        hasEnough = true
        child.stdout.destroy()
      })
      child.stderr.on('data', (chunk: Buffer) => {
        error = (error + chunk.toString('utf8')).slice(-keptErrors)
      })
      child.once('error', (fault) => resolve({ ok: false, output: '', error: fault.message }))
      child.once('close', (code) => {
        // What git started and did not wait for.
        if (child.pid !== undefined) killGroup(child.pid)
        resolve({ ok: code === 0 || hasEnough, output: Buffer.concat(output).toString('utf8'), error })
      })
    })
}

type Facts = { home: string; path: string; author: string; transfer: GitTransfer | undefined }

function environment({ home, path, author, transfer }: Facts): Record<string, string> {
  const settings: [string, string][] = [
    ['safe.directory', '*'],
    ['core.hooksPath', '/dev/null'],
    ['core.fsmonitor', 'false'],
    ['core.quotePath', 'false'],
    ['credential.helper', ''],
    ['commit.gpgSign', 'false'],
    ['submodule.recurse', 'false'],
    ['http.proxy', ''],
    ['http.followRedirects', 'false'],
    ['gc.auto', '0'],
    ...(transfer
      ? [[`http.${transfer.url}.extraHeader`, `Authorization: Bearer ${transfer.ticket}`] as [string, string]]
      : []),
  ]
  const email = `${author}@agents.roost.local`
  return {
    PATH: path,
    HOME: home,
    LC_ALL: 'C',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ASKPASS: '/bin/false',
    GIT_EDITOR: '/bin/true',
    GIT_ALLOW_PROTOCOL: 'http',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    ...Object.fromEntries(
      ['AUTHOR', 'COMMITTER'].flatMap((who) => [
        [`GIT_${who}_NAME`, author],
        [`GIT_${who}_EMAIL`, email],
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

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // Nobody of the group is left.
  }
}
