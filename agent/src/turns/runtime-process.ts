import type { TranscriptLine } from '@roost/contracts/link/transcript'
import { parseObject } from '../kit/json.ts'
import type { RawLine } from '../kit/line-reader.ts'
import { type Child, startChild } from '../processes/child.ts'
import type { Environment } from '../processes/environment.ts'
import type { Identities, Person } from '../processes/identity.ts'
import type { Dialogue, Exit, Launch, Outcome, Step, TurnInput } from '../runtimes/port.ts'
import type { PieceKind } from './partials.ts'

/** Where the lines of a turn go. */
export type TurnSink = {
  /** `sourceBytes` is the true length of a line that was shortened when it was read, else null. */
  lines(lines: TranscriptLine[], sourceBytes: number | null): void
  partial(kind: PieceKind, text: string): void
}

/** A runtime at work, or waiting for its next turn. */
export type RuntimeProcess = {
  readonly pid: number
  readonly exited: Promise<Exit>
  isRunning(): boolean
  /** The runtime's own session, once it has said which. */
  sessionId(): string | null
  /** When it last wrote anything, by `now`. */
  lastOutputAt(): number
  /** One at a time. Settles on the result line, or when the process ends without one. */
  turn(input: TurnInput, sink: TurnSink): Promise<Outcome>
  /** Asks for the end of the turn while the process stays; false when it knows no such request. */
  interrupt(): boolean
  stop(graceMs: number): Promise<Exit>
  /** The turn is over: an orderly end, by force when it does not come. */
  finish(): Promise<Exit>
}

export type ProcessOptions = {
  launch: Launch
  env: Environment
  cwd: string
  person: Person
  marker: string
  dialogue: Dialogue
  /** Milliseconds that have passed. */
  now(): number
}

/** How long a CLI that has said its result may take to end, to write its session down. */
const patienceMs = 3000

type Turn = { sink: TurnSink; done(outcome: Outcome): void }

/** Rejects when the process cannot be started at all. */
export async function startRuntimeProcess(
  options: ProcessOptions,
  identities: Identities,
): Promise<RuntimeProcess> {
  const { dialogue, now } = options
  let turn: Turn | null = null
  let sessionId: string | null = null
  let lastOutputAt = now()
  let isOrderly = true

  const child: Child = await startChild(
    {
      command: options.launch.command,
      args: options.launch.args,
      env: options.env,
      cwd: options.cwd,
      person: options.person,
      marker: options.marker,
      onLine: read,
      onError: (text) => dialogue.hear?.(text),
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
    // A CLI's own chatter between its lines.
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
      take(step)
    }
    flush()
  }

  function take(step: Exclude<Step, { do: 'line' }>) {
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
        isOrderly = !step.isEarly
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
    finish: () => child.finish(isOrderly ? patienceMs : 0),
  }
}
