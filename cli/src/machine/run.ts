import { type ChildProcess, spawn } from 'node:child_process'

export type RunOptions = {
  cwd?: string
  env?: NodeJS.ProcessEnv
  signal?: AbortSignal
  /** Called with every line of both streams. */
  onLine?: (line: string) => void
  timeoutMs?: number
}
export type RunResult = {
  /** Null when a signal ended it or it could not be started. */
  code: number | null
  stdout: string
  /** The last lines of both streams, for a message about a failure. */
  lastLines: string[]
}

/** Runs a command to its end. A missing program gives the code null, like a killed one. */
export function run(file: string, args: string[], options: RunOptions = {}): Promise<RunResult> {
  return new Promise((resolve) => {
    let stdout = ''
    const lastLines: string[] = []
    const takeLine = (line: string) => {
      if (line.trim() === '') return
      lastLines.push(line)
      if (lastLines.length > 15) lastLines.shift()
      options.onLine?.(line)
    }
    const child = spawn(file, args, {
      cwd: options.cwd,
      env: options.env ?? process.env,
      stdio: ['ignore', 'pipe', 'pipe'],
      signal: options.signal,
      timeout: options.timeoutMs,
    })
    const outLines = lineSplitter(takeLine)
    const errorLines = lineSplitter(takeLine)
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text
      outLines.take(text)
    })
    child.stderr.setEncoding('utf8').on('data', errorLines.take)
    child.on('error', (error) => takeLine(error.message))
    child.on('close', (code) => {
      outLines.end()
      errorLines.end()
      resolve({ code: child.pid === undefined ? null : code, stdout, lastLines })
    })
  })
}

/** Splits text into whole lines; carriage returns of progress bars count as line ends. */
export function lineSplitter(onLine: (line: string) => void) {
  let remainder = ''
  return {
    take(text: string) {
      const lines = (remainder + text).split(/[\r\n]+/)
      remainder = lines.pop() ?? ''
      for (const line of lines) onLine(line)
    },
    end() {
      if (remainder !== '') onLine(remainder)
      remainder = ''
    },
  }
}

/** True when a program of this name is on the PATH, in /usr/sbin or in /sbin. */
export async function hasProgram(name: string): Promise<boolean> {
  const path = `${process.env.PATH ?? ''}:/usr/sbin:/sbin`
  return (await run('sh', ['-c', 'command -v "$1"', 'sh', name], { env: { PATH: path } })).code === 0
}

/** Sends SIGTERM, and SIGKILL after `graceMs`. Resolves when the process has ended. */
export async function endProcess(child: ChildProcess, graceMs: number): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), graceMs)
  await exited
  clearTimeout(timer)
}
