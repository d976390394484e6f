import { spawn } from 'node:child_process'
import type { Readable } from 'node:stream'
import type { GitOutcome } from './port.ts'
import { failure, failureOf } from './rules.ts'
import { watchWork } from './work.ts'

export type GitCommand = {
  args: readonly string[]
  /** Environment of this call. Git inherits only PATH from this process. */
  env: Readonly<Record<string, string>>
  input?: string
  timeoutSeconds: number
  signal: AbortSignal | undefined
  /** Limit for the output. */
  maxBytes: number
  /** Limit for each file that git writes; a pack is one file. */
  maxFileBytes: number
  /** Limit for the data memory of each program that git starts. */
  memoryBytes: number
  /** Processor seconds allowed so far, including child processes; unlimited if absent. */
  allowedSeconds?: () => Promise<number>
}

const maxErrorLength = 16 * 1024
/** Limit for the address space, including mapped packs. */
const maxAddressSpaceKib = 4 * 1024 * 1024

/** Runs git in its own process group, which is killed when a limit is exceeded. */
export function runGit(command: GitCommand): Promise<GitOutcome<Buffer>> {
  const { args, env, input, timeoutSeconds, signal, maxBytes, maxFileBytes, memoryBytes } = command
  if (signal?.aborted) return Promise.resolve(failure('timeout', 'The call was cancelled.'))
  // The shell sets limits for git and its children, and passes the arguments unchanged.
  const limits = [
    `ulimit -f ${Math.ceil(maxFileBytes / 512)}`,
    // Systems without these limits skip them; the others apply.
    `ulimit -v ${maxAddressSpaceKib} 2>/dev/null`,
    `ulimit -d ${Math.ceil(memoryBytes / 1024)} 2>/dev/null`,
    'ulimit -c 0',
    'exec git "$@"',
  ].join('; ')
  const child = spawn('/bin/sh', ['-c', limits, 'git', ...args], {
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
    const onAbort = () => end(failure('timeout', 'The call was cancelled.'))
    signal?.addEventListener('abort', onAbort, { once: true })

    const onTooMuch = () => end(failure('too_large', 'The repository exceeds the size limit.'))
    const output = collect(child.stdout, maxBytes, onTooMuch)
    const watched =
      child.pid !== undefined && command.allowedSeconds
        ? watchWork(child.pid, command.allowedSeconds, onTooMuch)
        : null
    let errors = ''
    child.stderr.on('data', (chunk: Buffer) => {
      errors = (errors + chunk.toString('utf8')).slice(-maxErrorLength)
    })
    // A git that exits early does not read its input.
    child.stdin.on('error', () => {})
    child.stdin.end(input ?? '')

    const settle = (outcome: GitOutcome<Buffer>) => {
      clearTimeout(timer)
      watched?.stop()
      signal?.removeEventListener('abort', onAbort)
      resolve(ending ?? outcome)
    }
    child.once('error', () => settle(failure('failed', 'Git is not installed on this machine.')))
    child.once('close', (code, signalName) => {
      // Git may leave child processes behind.
      if (child.pid !== undefined) killGroup(child.pid)
      if (code === 0) return settle({ ok: true, value: Buffer.concat(output) })
      settle(failureOf(signalName ? `git died of signal ${signalName}` : errors))
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
    // The group has no process left.
  }
}
