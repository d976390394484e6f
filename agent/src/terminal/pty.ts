import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { access, constants } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import type { Environment } from '../processes/environment.ts'
import type { Identities } from '../processes/identity.ts'
import { createProcessTree, markerName, withMark } from '../processes/tree.ts'

export type Size = { cols: number; rows: number }

/** A program on a pseudo-terminal, with all its descendants. */
export type Pty = {
  /** Unread output is buffered and blocks the program when full. Ends after the last output. */
  readonly output: Readable
  readonly input: Writable
  /**
   * The exit code, or 128 plus the signal number. Settles after the output has ended and all descendants are
   * gone.
   */
  readonly exited: Promise<number>
  resize(size: Size): void
  /** Hangs up, then kills the rest after `graceMs`. */
  stop(graceMs: number): Promise<void>
}

export type PtyOptions = {
  command: string[]
  size: Size
  env: Environment
  cwd: string
  /** Value of the marker variable that identifies all descendants. */
  marker: string
}

/** An absolute path: PATH of the workspace may name another interpreter. */
const interpreter = '/usr/bin/python3'
const script = join(import.meta.dirname, 'pty.py')

/** Returns null when no interpreter is available. Throws when a process cannot be started. */
export async function startPty(options: PtyOptions, identities: Identities): Promise<Pty | null> {
  const { size, marker } = options
  const canRun = await access(interpreter, constants.X_OK).then(
    () => true,
    () => false,
  )
  if (!canRun) return null
  // Isolated mode: neither the workspace nor its variables affect what the interpreter loads.
  const args = ['-I', '-S', script, String(size.rows), String(size.cols), ...options.command]
  const started = identities.as(identities.developer, ...withMark(marker, interpreter, args))
  const child = spawn(started.command, started.args, {
    ...started.options,
    cwd: options.cwd,
    env: { ...options.env, [markerName]: marker },
    stdio: ['pipe', 'pipe', 'ignore', 'pipe'],
    detached: true,
  })
  const { stdin: input, stdout: output } = child
  const control = child.stdio[3]
  if (!input || !output || !control || !('write' in control)) throw new Error('The process has no pipes.')
  // Writing to an ended process is not an error; `exited` reports the end.
  for (const stream of [input, output, control]) stream.on('error', () => {})
  const closed = new Promise<number>((resolve) => child.once('close', (code) => resolve(code ?? 255)))
  await once(child, 'spawn')
  child.on('error', () => {})
  const tree = createProcessTree(identities.developer, identities)
  const exited = closed.then(async (code) => {
    await tree.killMarked(marker)
    return code
  })

  async function end(graceMs: number): Promise<void> {
    control?.destroy()
    // Discards unread output.
    output?.destroy()
    const timer = setTimeout(() => void tree.killMarked(marker), graceMs)
    await exited
    clearTimeout(timer)
  }

  let stopping: Promise<void> | null = null
  return {
    output,
    input,
    exited,
    resize: ({ cols, rows }) => void control.write(`${rows} ${cols}\n`),
    stop(graceMs) {
      stopping ??= end(graceMs)
      return stopping
    },
  }
}
