import { type ChildProcessWithoutNullStreams, execFile, spawn } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'

const execute = promisify(execFile)

/** Git without any configuration of the machine. Content is from agents, so large files are never compared. */
export type GitProgram = {
  /** Starts git; with `lock`, it waits for the store's lock first and holds it until it ends. */
  start(args: readonly string[], lock?: 'shared' | 'exclusive'): GitProcess
  /** Runs git to its end and returns its output. Throws with its last errors. */
  run(args: readonly string[], options?: { input?: string; lock?: 'shared' | 'exclusive' }): Promise<Buffer>
  /** Removes what killed processes received, as soon as no record is being made. Rejects if it cannot. */
  removeUnfinished(signal: AbortSignal): Promise<void>
}

export type GitProcess = {
  child: ChildProcessWithoutNullStreams
  /** Resolves with null after a success, else with git's last errors. */
  ended: Promise<string | null>
  kill(): void
}

const settings: Record<string, string> = {
  'core.hooksPath': '/dev/null',
  'core.compression': '1',
  'core.bigFileThreshold': '1m',
  'core.deltaBaseCacheLimit': '16m',
  // Nothing is ever checked out, and names of agents may look like anything.
  'core.protectHFS': 'false',
  'core.protectNTFS': 'false',
  'core.packedGitWindowSize': '16m',
  'core.packedGitLimit': '256m',
  'fastimport.unpackLimit': '0',
  'gc.auto': '0',
  'maintenance.auto': 'false',
  'pack.threads': '1',
  'pack.windowMemory': '64m',
  'pack.writeReverseIndex': 'false',
  'safe.directory': '*',
}
const maxErrorLength = 2000

export function createGitProgram(repository: string, lockFile: string, path: string): GitProgram {
  const names = Object.entries(settings)
  const env = {
    PATH: path,
    HOME: '/nonexistent',
    LC_ALL: 'C',
    GIT_DIR: repository,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_COUNT: String(names.length),
    ...Object.fromEntries(
      names.flatMap(([name, value], index) => [
        [`GIT_CONFIG_KEY_${index}`, name],
        [`GIT_CONFIG_VALUE_${index}`, value],
      ]),
    ),
  }

  function start(args: readonly string[], lock?: 'shared' | 'exclusive'): GitProcess {
    const command = lock ? ['flock', `--${lock}`, lockFile, 'git', ...args] : ['git', ...args]
    const [program = 'git', ...rest] = command
    const child = spawn(program, rest, { env, cwd: '/', stdio: 'pipe', detached: true })
    let errors = ''
    child.stderr.on('data', (chunk: Buffer) => {
      errors = (errors + chunk.toString('utf8')).slice(-maxErrorLength)
    })
    // An ended git is reported by `ended`.
    child.stdin.on('error', () => {})
    const ended = new Promise<string | null>((resolve) => {
      child.once('error', (error) => resolve(error.message))
      child.once('close', (code, signal) =>
        resolve(code === 0 ? null : errors.trim() || `git ended with ${signal ?? code}`),
      )
    })
    return {
      child,
      ended,
      kill() {
        try {
          // With the lock, git is a child of the program that holds it.
          if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
        } catch {
          // It has ended already.
        }
      },
    }
  }

  return {
    start,
    async removeUnfinished(signal) {
      const unfinished = [join(repository, 'objects/pack'), '-maxdepth', '1', '-name', 'tmp_*', '-delete']
      await execute('flock', ['--exclusive', lockFile, 'find', ...unfinished], { env, cwd: '/', signal })
    },
    async run(args, { input = '', lock } = {}) {
      const { child, ended } = start(args, lock)
      const chunks: Buffer[] = []
      child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
      child.stdin.end(input)
      const fault = await ended
      if (fault !== null) throw new Error(`git ${args[0]} failed: ${fault}`)
      return Buffer.concat(chunks)
    },
  }
}
