import { type ChildProcess, fork } from 'node:child_process'
import { endProcess, lineSplitter } from '../machine/run.ts'
import { duration } from '../terminal/duration.ts'
import { leanEnvironment, leanHeap } from './lean-process.ts'
import type { LogFile } from './log-file.ts'
import { exitConfig, type PlatformMessage, type ReadyMessage, readMessage } from './messages.ts'

export type ProcessSpec = {
  name: string
  file: string
  args?: string[]
  env: NodeJS.ProcessEnv
  cwd: string
  log: LogFile
  /** Matches the output line that means ready, for a program that sends no messages. */
  readyLine?: RegExp
}

export type SupervisedProcess = {
  readonly name: string
  /** Resolves when first ready, with null for a program without messages. Rejects with `ProcessFailed`. */
  readonly ready: Promise<ReadyMessage | null>
  /** Resolves when restarting is pointless: the configuration is invalid, or the process never became ready. */
  readonly failed: Promise<ProcessFailed>
  stop(graceMs: number): Promise<void>
  kill(): void
}

export type SuperviseOptions = {
  onProgress: (text: string) => void
  /** Called with one line for the terminal. */
  onTrouble: (text: string) => void
  /** Called with every output line, for `--verbose`. */
  onLine?: (line: string) => void
  timing?: { firstPauseMs: number; maxPauseMs: number; stableMs: number; maxStartAttempts: number }
}

export class ProcessFailed extends Error {
  readonly exitCode: number
  constructor(message: string, exitCode: number) {
    super(message)
    this.name = 'ProcessFailed'
    this.exitCode = exitCode
  }
}

const defaultTiming = { firstPauseMs: 500, maxPauseMs: 30_000, stableMs: 60_000, maxStartAttempts: 3 }

/** Starts a process of the platform and restarts it whenever it ends, until it is stopped. */
export function superviseProcess(spec: ProcessSpec, options: SuperviseOptions): SupervisedProcess {
  const timing = options.timing ?? defaultTiming
  const ready = Promise.withResolvers<ReadyMessage | null>()
  const failed = Promise.withResolvers<ProcessFailed>()
  // Prevents an unhandled rejection when nobody awaits readiness.
  ready.promise.catch(() => {})
  let child: ChildProcess | null = null
  let pause: NodeJS.Timeout | undefined
  let isStopping = false
  let hasBeenReady = false
  let failures = 0

  start()
  return {
    name: spec.name,
    ready: ready.promise,
    failed: failed.promise,
    async stop(graceMs) {
      isStopping = true
      clearTimeout(pause)
      if (child) await endProcess(child, graceMs)
    },
    kill() {
      isStopping = true
      clearTimeout(pause)
      child?.kill('SIGKILL')
    },
  }

  function start(): void {
    const startedAt = Date.now()
    let reason: string | null = null
    const lastLines: string[] = []
    const started = fork(spec.file, spec.args ?? [], {
      env: { ...leanEnvironment(spec.cwd), ...spec.env },
      cwd: spec.cwd,
      execArgv: leanHeap,
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      // A separate process group: Ctrl-C reaches only this process, which stops the others in order.
      detached: true,
    })
    child = started
    const takeLine = (line: string) => {
      lastLines.push(line)
      if (lastLines.length > 20) lastLines.shift()
      options.onLine?.(line)
      if (spec.readyLine?.test(line)) becomeReady(null)
    }
    for (const stream of [started.stdout, started.stderr]) {
      const lines = lineSplitter(takeLine)
      stream?.setEncoding('utf8').on('data', (text: string) => {
        spec.log.write(text)
        lines.take(text)
      })
      stream?.on('end', lines.end)
    }
    started.on('message', (received) => {
      const message: PlatformMessage | null = readMessage(received)
      if (message?.type === 'progress') options.onProgress(message.text)
      if (message?.type === 'fatal') reason = message.reason
      if (message?.type === 'ready') becomeReady(message)
    })
    started.on('error', (error) => {
      reason = error.message
    })
    // `close`, not `exit`: by then all output has been read.
    started.on('close', (code, signal) => {
      child = null
      if (isStopping) return
      if (Date.now() - startedAt >= timing.stableMs) failures = 0
      onEnd({ code, signal, reason, lastLines })
    })
  }

  function becomeReady(message: ReadyMessage | null): void {
    hasBeenReady = true
    ready.resolve(message)
  }

  function onEnd(end: {
    code: number | null
    signal: NodeJS.Signals | null
    reason: string | null
    lastLines: string[]
  }): void {
    const how = end.signal ? `was terminated by ${end.signal}` : `exited with code ${end.code}`
    const details = end.reason ?? end.lastLines.join('\n')
    failures += 1
    if (end.code === exitConfig) {
      giveUp(details, exitConfig)
      return
    }
    // A fatal reason before the first readiness, such as a port in use, needs a person.
    if (!hasBeenReady && (end.reason || failures >= timing.maxStartAttempts)) {
      giveUp(`${spec.name} ${how} before it was ready${details ? `:\n${details}` : ''}`, 1)
      return
    }
    const pauseMs = Math.min(timing.firstPauseMs * 2 ** (failures - 1), timing.maxPauseMs)
    const reason = end.reason ? `: ${end.reason}` : ''
    options.onTrouble(
      `${spec.name} ${how}${reason}; restarting in ${duration(pauseMs)} (log: ${spec.log.path})`,
    )
    pause = setTimeout(start, pauseMs)
  }

  function giveUp(message: string, exitCode: number): void {
    const failure = new ProcessFailed(message, exitCode)
    ready.reject(failure)
    failed.resolve(failure)
  }
}
