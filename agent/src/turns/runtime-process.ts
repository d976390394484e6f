import type { PieceKind, TranscriptLine } from '@roost/contracts/link/transcript'
import { parseObject } from '../kit/json.ts'
import type { RawLine } from '../kit/line-reader.ts'
import { type Child, startChild } from '../processes/child.ts'
import type { Environment } from '../processes/environment.ts'
import type { Identities, ProcessUser } from '../processes/identity.ts'
import type { Dialogue, Exit, Launch, Outcome, Step, TurnInput } from '../runtimes/port.ts'

/** Receives the output of a turn. */
export type TurnSink = {
  /** `sourceBytes` is the original length of a line truncated when read, else null. */
  lines(lines: TranscriptLine[], sourceBytes: number | null): void
  partial(kind: PieceKind, text: string): void
}

/** A runtime process that is running a turn or waiting for the next. */
export type RuntimeProcess = {
  readonly pid: number
  readonly exited: Promise<Exit>
  isRunning(): boolean
  /** The runtime's own session, once known. */
  sessionId(): string | null
  /** Time of its last output, by `now`. */
  lastOutputAt(): number
  /** Runs one turn at a time. Settles on the result line, or when the process ends without one. */
  turn(input: TurnInput, sink: TurnSink): Promise<Outcome>
  /** Interrupts the turn but keeps the process; false when the runtime has no such request. */
  interrupt(): boolean
  stop(graceMs: number): Promise<Exit>
  /** Lets the process end by itself, then stops it. */
  finish(): Promise<Exit>
  /** Kills what the turn left running beside the process. */
  killDetached(): Promise<void>
}

export type ProcessOptions = {
  launch: Launch
  env: Environment
  cwd: string
  user: ProcessUser
  marker: string
  dialogue: Dialogue
  /** Monotonic milliseconds. */
  now(): number
}

/** Time for a CLI to end after its result, while it saves its session. */
const exitWaitMs = 3000

type Turn = { sink: TurnSink; done(outcome: Outcome): void }

/** Rejects when the process cannot be started. */
export async function startRuntimeProcess(
  options: ProcessOptions,
  identities: Identities,
): Promise<RuntimeProcess> {
  const { dialogue, now } = options
  let turn: Turn | null = null
  let sessionId: string | null = null
  let lastOutputAt = now()
  let mayExitItself = true

  const child: Child = await startChild(
    {
      command: options.launch.command,
      args: options.launch.args,
      env: options.env,
      cwd: options.cwd,
      user: options.user,
      marker: options.marker,
      ...(options.launch.before === undefined ? {} : { before: options.launch.before }),
      onLine: read,
      onError: (text) => dialogue.readError?.(text),
    },
    identities,
  )
  void child.exited.then((exit) => {
    const ended = turn
    turn = null
    ended?.done(dialogue.ended(exit))
  })

  function read(raw: RawLine) {
    lastOutputAt = now()
    const line = parseObject(raw.text)
    // Ignores other output of the CLI.
    if (line) act(dialogue.read(line), raw.isCut ? raw.bytes : null)
  }

  function act(steps: Step[], sourceBytes: number | null) {
    let lines: TranscriptLine[] = []
    const flush = () => {
      if (lines.length > 0) turn?.sink.lines(lines, sourceBytes)
      lines = []
    }
    for (const step of steps) {
      if (step.do === 'line') {
        lines.push(step.line)
        continue
      }
      flush()
      handle(step)
    }
    flush()
  }

  function handle(step: Exclude<Step, { do: 'line' }>) {
    switch (step.do) {
      case 'partial':
        return turn?.sink.partial(step.kind, step.text)
      case 'write':
        return child.write(step.text)
      case 'close-input':
        return child.closeInput()
      case 'end': {
        const ended = turn
        turn = null
        sessionId = step.outcome.sessionId ?? sessionId
        mayExitItself = !step.isEarly
        return ended?.done(step.outcome)
      }
    }
  }

  return {
    pid: child.pid,
    exited: child.exited,
    isRunning: child.isRunning,
    sessionId: () => sessionId,
    lastOutputAt: () => lastOutputAt,
    turn(input, sink) {
      return new Promise((done) => {
        turn = { sink, done }
        lastOutputAt = now()
        if (child.isRunning()) return act(dialogue.begin(input), null)
        void child.exited.then((exit) => {
          if (turn?.done === done) turn = null
          done(dialogue.ended(exit))
        })
      })
    },
    interrupt() {
      const text = dialogue.interrupt()
      if (text === null || !child.isRunning()) return false
      child.write(text)
      return true
    },
    stop: child.stop,
    killDetached: child.killDetached,
    finish: () => child.finish(mayExitItself ? exitWaitMs : 0),
  }
}
