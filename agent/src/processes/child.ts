import { spawn } from 'node:child_process'
import { createLineReader, type RawLine } from '../kit/line-reader.ts'
import { shorten } from '../kit/text.ts'
import type { Exit } from '../runtimes/port.ts'
import type { Environment } from './environment.ts'
import type { Identities, ProcessUser } from './identity.ts'
import { countOutOfMemory } from './memory.ts'
import { createProcessTree, markerName, quote, withMark } from './tree.ts'

/** A process with all its descendants. Output is read line by line. */
export type Child = {
  readonly pid: number
  /** Settles after the process has ended and its output was read. */
  readonly exited: Promise<Exit>
  isRunning(): boolean
  write(text: string): void
  closeInput(): void
  /** Sends SIGINT and SIGTERM, then SIGKILL after `graceMs`. Always kills the remaining descendants. */
  stop(graceMs: number): Promise<Exit>
  /** Waits for the process to end by itself before stopping it. */
  finish(waitMs: number): Promise<Exit>
  /** Kills what detached itself from this process, which keeps running. */
  killDetached(): Promise<void>
}

export type ChildOptions = {
  command: string
  args: string[]
  env: Environment
  cwd: string
  user: ProcessUser
  /** Marker value that identifies all descendants. */
  marker: string
  /** Shell code that runs before the command, as its user. */
  before?: string
  onLine(line: RawLine): void
  onError(text: string): void
}

const maxStderrLength = 4000
const defaultGraceMs = 2000
/** Wait for output after the exit: a descendant may keep the pipes open. */
const drainMs = 500

/** Throws when the process cannot be started. */
export async function startChild(options: ChildOptions, identities: Identities): Promise<Child> {
  // The shell enters the folder, because this program may not.
  const before = `cd ${quote(options.cwd)} || exit 126\n${options.before ?? ''}`
  const marked = withMark(options.marker, options.command, options.args, before)
  const { command, args, options: asUser } = identities.as(options.user, ...marked)
  const oomBefore = countOutOfMemory()
  const child = spawn(command, args, {
    ...asUser,
    cwd: '/',
    env: { ...options.env, [markerName]: options.marker },
    stdio: ['pipe', 'pipe', 'pipe'],
    // A separate process group, so that one signal reaches all of it.
    detached: true,
  })
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve)
    child.once('error', reject)
  })
  // Failed signals are ignored: `exited` reports the end.
  child.on('error', () => {})
  const pid = child.pid ?? 0
  const tree = createProcessTree(options.user, identities)
  let stderr = ''
  let hasEnded = false
  let wasKilledByUs = false
  let stopping: Promise<Exit> | null = null

  const reader = createLineReader(options.onLine)
  child.stdout.on('data', (chunk: Buffer) => reader.push(chunk))
  child.stderr.on('data', (chunk: Buffer) => {
    const text = chunk.toString('utf8')
    stderr = (stderr + text).slice(-maxStderrLength)
    options.onError(text)
  })
  // Writing to an ended process is not an error; `exited` reports the end.
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream.on('error', () => {})

  const exited = new Promise<Exit>((resolve) => {
    child.once('exit', (code, signal) => {
      hasEnded = true
      const timer = setTimeout(settle, drainMs)
      child.once('close', settle)
      let isSettled = false
      function settle() {
        if (isSettled) return
        isSettled = true
        clearTimeout(timer)
        reader.end()
        const wasKilled = (signal === 'SIGKILL' || code === 137) && !wasKilledByUs
        const oomAfter = wasKilled ? countOutOfMemory() : null
        const isOutOfMemory = oomAfter !== null && oomAfter > (oomBefore ?? 0)
        resolve({ code, signal, stderr: shorten(stderr.trim(), maxStderrLength), isOutOfMemory })
      }
    })
  })

  async function end(graceMs: number): Promise<Exit> {
    if (!hasEnded) {
      await tree.signalGroup(pid, 'SIGINT')
      await waitFor(exited, graceMs / 4)
      // Some CLIs treat an interrupt as a request and continue.
      if (!hasEnded) await tree.signalGroup(pid, 'SIGTERM')
      await waitFor(exited, graceMs - graceMs / 4)
    }
    wasKilledByUs = true
    if (!hasEnded) await tree.signalGroup(pid, 'SIGKILL')
    await tree.killMarked(options.marker)
    return exited
  }

  return {
    pid,
    exited,
    killDetached: () => tree.killDetached(options.marker, pid),
    isRunning: () => !hasEnded,
    write(text) {
      if (child.stdin.writable) child.stdin.write(text)
    },
    closeInput: () => void child.stdin.end(),
    stop(graceMs) {
      stopping ??= end(graceMs)
      return stopping
    },
    async finish(waitMs) {
      child.stdin.end()
      await waitFor(exited, waitMs)
      stopping ??= end(defaultGraceMs)
      return stopping
    },
  }
}

/** Waits for `promise` for at most `ms`. */
export async function waitFor(promise: Promise<unknown>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms)
  })
  await Promise.race([promise, late])
  clearTimeout(timer)
}
