import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { access, constants } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import type { Environment } from '../processes/environment.ts'
import type { Identities } from '../processes/identity.ts'
import { preferForMemoryKiller } from '../processes/memory.ts'
import { createProcessTree, markerName } from '../processes/tree.ts'

export type Size = { cols: number; rows: number }

/** One program at a pseudo-terminal, with all that it starts. */
export type Pty = {
  /** What was written and not read yet waits here and holds the program up; ends behind the last output. */
  readonly output: Readable
  readonly input: Writable
  /**
   * Its exit code, 128 and the signal's number for one that was killed. Settles when its output has ended, too, and
   * what it has left behind.
   */
  readonly exited: Promise<number>
  resize(size: Size): void
  /** Hangs up, and kills what is left after `graceMs`. */
  stop(graceMs: number): Promise<void>
}

export type PtyOptions = {
  command: string[]
  size: Size
  env: Environment
  cwd: string
  /** Value of the variable by which the tree is found. */
  marker: string
}

/** Not looked for in PATH: the workspace may have another one first. */
const interpreter = '/usr/bin/python3'
const script = join(import.meta.dirname, 'pty.py')

/** Null: there is nothing here to make a terminal with. Throws when a process cannot be started. */
export async function startPty(options: PtyOptions, identities: Identities): Promise<Pty | null> {
  const { size, marker } = options
  const canRun = await access(interpreter, constants.X_OK).then(
    () => true,
    () => false,
  )
  if (!canRun) return null
  // Neither the workspace nor a variable of it decides what the interpreter loads.
  const args = ['-I', '-S', script, String(size.rows), String(size.cols), ...options.command]
  const started = identities.as('developer', interpreter, args)
  const child = spawn(started.command, started.args, {
    cwd: options.cwd,
    env: { ...options.env, [markerName]: marker },
    stdio: ['pipe', 'pipe', 'ignore', 'pipe'],
    detached: true,
  })
  const { stdin: input, stdout: output } = child
  const control = child.stdio[3]
  if (!input || !output || !control || !('write' in control)) throw new Error('A process without its pipes.')
  // Writing to a process that is gone is no fault of ours; its end is told by `exited`.
  for (const stream of [input, output, control]) stream.on('error', () => {})
  const closed = new Promise<number>((resolve) => child.once('close', (code) => resolve(code ?? 255)))
  await once(child, 'spawn')
  child.on('error', () => {})
  preferForMemoryKiller(child.pid ?? 0)
  const tree = createProcessTree('developer', identities)
  const exited = closed.then(async (code) => {
    await tree.killMarked(marker)
    return code
  })

  async function end(graceMs: number): Promise<void> {
    control?.destroy()
    // Nobody reads what is still on its way.
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
