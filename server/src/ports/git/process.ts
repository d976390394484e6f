import { spawn } from 'node:child_process'
import type { Readable } from 'node:stream'
import type { GitOutcome } from './port.ts'
import { failure, failureOf } from './rules.ts'
import { watchWork } from './work.ts'

export type GitCommand = {
  args: readonly string[]
  /** Set for this call; nothing else of this process's environment reaches git but PATH. */
  env: Readonly<Record<string, string>>
  input?: string
  timeoutSeconds: number
  signal: AbortSignal | undefined
  /** Of the output. */
  maxBytes: number
  /** Of a file that git writes; a pack is one file. */
  maxFileBytes: number
  /** Of memory of its own, of each program that git starts. */
  memoryBytes: number
  /** Seconds of the processor that it may have used by now, with all that it started; left out: any. */
  allowedSeconds?: () => Promise<number>
}

const keptErrors = 16 * 1024
/** Address space, packs that are looked into included. */
const spaceKib = 4 * 1024 * 1024

/** Runs git in a process group of its own, all of which is killed when a bound is reached. */
export function runGit(command: GitCommand): Promise<GitOutcome<Buffer>> {
  const { args, env, input, timeoutSeconds, signal, maxBytes, maxFileBytes, memoryBytes } = command
  if (signal?.aborted) return Promise.resolve(failure('timeout', 'The call was ended.'))
  // The shell sets bounds that hold for everything git starts; arguments pass through it as they are.
  const bounds = [
    `ulimit -f ${Math.ceil(maxFileBytes / 512)}`,
    // A system that cannot bound these runs without: the other bounds hold.
    `ulimit -v ${spaceKib} 2>/dev/null`,
    `ulimit -d ${Math.ceil(memoryBytes / 1024)} 2>/dev/null`,
    'ulimit -c 0',
    'exec git "$@"',
  ].join('; ')
  const child = spawn('/bin/sh', ['-c', bounds, 'git', ...args], {
    env: { ...env },
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  return new Promise((resolve) => {
    let ending: GitOutcome<Buffer> | null = null
    const end = (outcome: GitOutcome<Buffer>) => {
      ending ??= outcome
      if (child.pid !== undefined) killGroup(child.pid)
    }
    const timer = setTimeout(
      () => end(failure('timeout', `Git took longer than ${timeoutSeconds} seconds.`)),
      timeoutSeconds * 1000,
    )
    const onAbort = () => end(failure('timeout', 'The call was ended.'))
    signal?.addEventListener('abort', onAbort, { once: true })

    const onTooMuch = () => end(failure('too_large', 'The repository is larger than it may be.'))
    const output = collect(child.stdout, maxBytes, onTooMuch)
    const watched =
      child.pid !== undefined && command.allowedSeconds
        ? watchWork(child.pid, command.allowedSeconds, onTooMuch)
        : null
    let errors = ''
    child.stderr.on('data', (chunk: Buffer) => {
      errors = (errors + chunk.toString('utf8')).slice(-keptErrors)
    })
    // A git that ends early reads no further.
    child.stdin.on('error', () => {})
    child.stdin.end(input ?? '')

    const settle = (outcome: GitOutcome<Buffer>) => {
      clearTimeout(timer)
      watched?.stop()
      signal?.removeEventListener('abort', onAbort)
      resolve(ending ?? outcome)
    }
    child.once('error', () => settle(failure('failed', 'Git is not installed on this machine.')))
    child.once('close', (code, ended) => {
      // What git started and did not wait for.
      if (child.pid !== undefined) killGroup(child.pid)
      if (code === 0) return settle({ ok: true, value: Buffer.concat(output) })
      settle(failureOf(ended ? `git died of signal ${ended}` : errors))
    })
  })
}

function collect(stream: Readable, maxBytes: number, onTooMuch: () => void): Buffer[] {
  const chunks: Buffer[] = []
  let size = 0
  stream.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (size > maxBytes) return onTooMuch()
    chunks.push(chunk)
  })
  return chunks
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // Nobody of the group is left.
  }
}
