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
  /** A line of its output that says that it is ready, for a program that sends no messages. */
  readyLine?: RegExp
}

export type KeptProcess = {
  readonly name: string
  /** Settles at the first readiness; null for a program without messages. Fails with `ProcessFailed`. */
  readonly ready: Promise<ReadyMessage | null>
  /** Resolves when it must not be started again: its configuration is wrong, or it never got ready. */
  readonly failed: Promise<ProcessFailed>
  stop(graceMs: number): Promise<void>
  kill(): void
}

export type KeepOptions = {
  onProgress: (text: string) => void
  /** One line for the person at the terminal. */
  onTrouble: (text: string) => void
  /** Every line it writes, for `--verbose`. */
  onLine?: (line: string) => void
  timing?: { firstPauseMs: number; longestPauseMs: number; steadyMs: number; readyTries: number }
}

export class ProcessFailed extends Error {
  readonly exitCode: number
  constructor(message: string, exitCode: number) {
    super(message)
    this.name = 'ProcessFailed'
    this.exitCode = exitCode
  }
}

const defaultTiming = { firstPauseMs: 500, longestPauseMs: 30_000, steadyMs: 60_000, readyTries: 3 }

/** Starts a process of the platform and starts it again whenever it ends, until it is stopped. */
export function keepProcess(spec: ProcessSpec, options: KeepOptions): KeptProcess {
  const timing = options.timing ?? defaultTiming
  const ready = Promise.withResolvers<ReadyMessage | null>()
  const failed = Promise.withResolvers<ProcessFailed>()
  // Who waits for readiness hears of the failure there; nobody may be waiting any more.
  ready.promise.catch(() => {})
  let child: ChildProcess | null = null
  let pause: NodeJS.Timeout | undefined
  let isStopping = false
  let wasReady = false
  let falls = 0

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
      // Out of the terminal's group: Ctrl-C reaches this process alone, which stops the others in order.
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
    // `close` and not `exit`: only then is everything read that it wrote.
    started.on('close', (code, signal) => {
      child = null
      if (isStopping) return
      if (Date.now() - startedAt >= timing.steadyMs) falls = 0
      ended({ code, signal, reason, lastLines })
    })
  }

  function becomeReady(message: ReadyMessage | null): void {
    wasReady = true
    ready.resolve(message)
  }

  function ended(end: {
    code: number | null
    signal: NodeJS.Signals | null
    reason: string | null
    lastLines: string[]
  }): void {
    const how = end.signal ? `was ended by ${end.signal}` : `ended with code ${end.code}`
    const words = end.reason ?? end.lastLines.join('\n')
    falls += 1
    if (end.code === exitConfig) {
      giveUp(words, exitConfig)
      return
    }
    // A reason given before it was ever ready (a port that is taken, say) is for a person to act on.
    if (!wasReady && (end.reason || falls >= timing.readyTries)) {
      giveUp(`${spec.name} ${how} before it was ready${words ? `:\n${words}` : ''}`, 1)
      return
    }
    const pauseMs = Math.min(timing.firstPauseMs * 2 ** (falls - 1), timing.longestPauseMs)
    const why = end.reason ? `: ${end.reason}` : ''
    options.onTrouble(
      `${spec.name} ${how}${why}; starting it again in ${duration(pauseMs)} (its log: ${spec.log.path})`,
    )
    pause = setTimeout(start, pauseMs)
  }

  function giveUp(message: string, exitCode: number): void {
    const failure = new ProcessFailed(message, exitCode)
    ready.reject(failure)
    failed.resolve(failure)
  }
}
