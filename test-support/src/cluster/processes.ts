import { type ChildProcess, spawn } from 'node:child_process'
import { open, readFile } from 'node:fs/promises'
import { run as runToEnd } from '../../../cli/src/machine/run.ts'

const commandTimeoutMs = 120_000
const linesPerLog = 15
const maxLineLength = 300

/** Runs a program to its end and returns its output. Throws with the last lines if it fails. */
export async function run(
  program: string,
  args: string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv; signal?: AbortSignal; timeoutMs?: number } = {},
): Promise<string> {
  const timeoutMs = options.timeoutMs ?? commandTimeoutMs
  const { code, stdout, lastLines } = await runToEnd(program, args, { ...options, timeoutMs })
  if (code !== 0) throw new Error(`${program} ${args.slice(0, 4).join(' ')} failed:\n${lastLines.join('\n')}`)
  return stdout
}

export async function succeeds(program: string, args: string[]): Promise<boolean> {
  return (await runToEnd(program, args, { timeoutMs: commandTimeoutMs })).code === 0
}

export type Daemon = {
  pid: number
  child: ChildProcess
  hasEnded(): boolean
  /** Resolves when the process has ended. */
  ended: Promise<void>
  /** Kills the process and waits for its end. */
  kill(): Promise<void>
  /** Asks the process to end and waits until it has. */
  terminate(): Promise<void>
}

export type DaemonOptions = {
  /** Receives both streams. */
  log: string
  env: NodeJS.ProcessEnv
  /** Opens the input, and a pipe at descriptor 3, for a dialogue at the start. */
  hasPipes?: boolean
}

/** Ends a process whose parent died before the kernel knew that it should kill it. */
const onlyWithParent = '[ "$PPID" = "$0" ] && exec "$@"'

/** Starts a process that the kernel kills when the caller's thread ends, even in a crash. */
export async function startDaemon(
  program: string,
  args: string[],
  { log, env, hasPipes = false }: DaemonOptions,
): Promise<Daemon> {
  const output = await open(log, 'a')
  const guarded = ['sh', '-c', onlyWithParent, String(process.pid), program, ...args]
  const child = spawn('setpriv', ['--pdeathsig', 'KILL', ...guarded], {
    stdio: [hasPipes ? 'pipe' : 'ignore', output.fd, output.fd, hasPipes ? 'pipe' : 'ignore'],
    env,
    // Another process group: Ctrl-C reaches only this process, which then closes the cluster.
    detached: true,
  })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  try {
    await new Promise((resolve, reject) => child.once('spawn', resolve).once('error', reject))
  } finally {
    await output.close()
  }
  const end = async (signal: NodeJS.Signals) => {
    child.ref()
    child.kill(signal)
    await ended
  }
  // A test that did not close its cluster can end. The kernel then ends the cluster.
  child.unref()
  return {
    pid: child.pid ?? 0,
    child,
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
    ended,
    kill: () => end('SIGKILL'),
    terminate: () => end('SIGTERM'),
  }
}

/** Returns the end of a log, for a message about a failure; empty if there is no log. */
export async function lastLines(path: string): Promise<string> {
  const text = await readFile(path, 'utf8').catch(() => '')
  const lines = text.trimEnd().split('\n').slice(-linesPerLog)
  return lines.map((line) => line.slice(0, maxLineLength)).join('\n')
}
