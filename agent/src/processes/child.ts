import { spawn } from 'node:child_process'
import { createLineReader, type RawLine } from '../kit/line-reader.ts'
import { shorten } from '../kit/text.ts'
import type { Exit } from '../runtimes/port.ts'
import type { Environment } from './environment.ts'
import type { Identities, Person } from './identity.ts'
import { countOutOfMemory, preferForMemoryKiller } from './memory.ts'
import { createProcessTree, markerName } from './tree.ts'

/** A process with its whole tree of children, read line by line. */
export type Child = {
  readonly pid: number
  /** Settles when the process has ended and all its output was read. */
  readonly exited: Promise<Exit>
  isRunning(): boolean
  write(text: string): void
  closeInput(): void
  /** Polite signals, then the kill after `graceMs`; the rest of the tree goes with it either way. */
  stop(graceMs: number): Promise<Exit>
  /** Waits that long for an orderly end before stopping. */
  finish(patienceMs: number): Promise<Exit>
}

export type ChildOptions = {
  command: string
  args: string[]
  env: Environment
  cwd: string
  person: Person
  /** Value of the marker by which the tree is found. */
  marker: string
  onLine(line: RawLine): void
  onError(text: string): void
}

const keptStderr = 4000
const politeMs = 2000
/** A child of the process that keeps its pipes open does not keep the turn open. */
const drainMs = 500

/** Throws when the process cannot be started at all. */
export async function startChild(options: ChildOptions, identities: Identities): Promise<Child> {
  const { command, args } = identities.as(options.person, options.command, options.args)
  const oomBefore = countOutOfMemory()
  const child = spawn(command, args, {
    cwd: options.cwd,
    env: { ...options.env, [markerName]: options.marker },
    stdio: ['pipe', 'pipe', 'pipe'],
    // A group of its own, to be signalled as one.
    detached: true,
  })
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve)
    child.once('error', reject)
  })
  // A signal that could not be sent is no news: its end is what counts.
  child.on('error', () => {})
  const pid = child.pid ?? 0
  const tree = createProcessTree(options.person, identities)
  preferForMemoryKiller(pid)
  let stderr = ''
  let hasEnded = false
  let wasKilledByUs = false
  let stopping: Promise<Exit> | null = null

  const reader = createLineReader(options.onLine)
  child.stdout.on('data', (chunk: Buffer) => reader.push(chunk))
  child.stderr.on('data', (chunk: Buffer) => {
    const text = chunk.toString('utf8')
    stderr = (stderr + text).slice(-keptStderr)
    options.onError(text)
  })
  // Writing to a process that is gone is no fault of ours; its end is reported by `exited`.
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
        resolve({ code, signal, stderr: shorten(stderr.trim(), keptStderr), isOutOfMemory })
      }
    })
  })

  async function end(graceMs: number): Promise<Exit> {
    if (!hasEnded) {
      await tree.signalGroup(pid, 'SIGINT')
      await either(exited, graceMs / 4)
      // Some CLIs take an interrupt for a wish.
      if (!hasEnded) await tree.signalGroup(pid, 'SIGTERM')
      await either(exited, graceMs - graceMs / 4)
    }
    wasKilledByUs = true
    if (!hasEnded) await tree.signalGroup(pid, 'SIGKILL')
    await tree.killMarked(options.marker)
    return exited
  }

  return {
    pid,
    exited,
    isRunning: () => !hasEnded,
    write(text) {
      if (child.stdin.writable) child.stdin.write(text)
    },
    closeInput: () => void child.stdin.end(),
    stop(graceMs) {
      stopping ??= end(graceMs)
      return stopping
    },
    async finish(patienceMs) {
      child.stdin.end()
      await either(exited, patienceMs)
      stopping ??= end(politeMs)
      return stopping
    },
  }
}

/** Waits for `promise`, at most that long. */
async function either(promise: Promise<unknown>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms)
  })
  await Promise.race([promise, late])
  clearTimeout(timer)
}
