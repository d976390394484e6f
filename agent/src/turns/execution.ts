import type { CancelAnswer, Run } from '@roost/contracts/link/runs'
import type { TranscriptLine } from '@roost/contracts/link/transcript'
import { timestamp } from '../kit/clock.ts'
import { faultText, type Log } from '../kit/log.ts'
import { type Link, LinkDown } from '../link/link.ts'
import type { Exit } from '../runtimes/port.ts'
import type { Delivery } from '../spool/delivery.ts'
import type { RunSpool } from '../spool/run-spool.ts'
import { type Activity, nextActivity } from './activity.ts'
import type { OwnedProcess } from './live.ts'
import { createPartials } from './partials.ts'
import { acquireProcess, mayStayAlive, type PrepareDeps, type PreparedTurn, prepareTurn } from './prepare.ts'
import { cancelledResult, faultResult, type Result, resultOf } from './result.ts'
import { runTurn, type TurnEnd } from './run-turn.ts'

/** One run in this program, from its claim to its result in the spool. */
export type Execution = {
  readonly run: Run
  /** Settles when the result is spooled and the process is gone or back among the live ones. */
  readonly done: Promise<void>
  activity(): Activity
  cancel(graceMs: number): Promise<CancelAnswer>
  /** The run is somebody else's now: its process goes, nothing is reported. */
  abandon(graceMs: number): void
}

export type ExecutionDeps = PrepareDeps & {
  link: Pick<Link, 'call' | 'signal'>
  delivery: Delivery
  log: Log
}

type Cancel = { graceMs: number; mayInterrupt: boolean }

const pieceBytes = 1024 * 1024
const linkRetryMs = 500
/** Processes of one run: a platform does not restart more often in one turn. */
const mostAttempts = 3

/** Starts working on the run as soon as `after`, the turn before it in its conversation, is done. */
export function startExecution(
  run: Run,
  spool: RunSpool,
  after: Promise<void> | null,
  deps: ExecutionDeps,
): Execution {
  const { clock } = deps
  const about = { execution_id: run.execution_id, claim_token: run.claim_token }
  const startedAt = clock.elapsed()
  const elapsed = () => clock.elapsed() - startedAt
  const stallSeconds = deps.settings().stall_seconds
  const cancelled = Promise.withResolvers<Cancel>()
  const finished = Promise.withResolvers<void>()
  let phase: 'accepted' | 'spawned' | 'finished' = 'accepted'
  let isCancelled = false
  let isAbandoned = false
  let activity: Activity = {}
  let exit: Exit | null = null
  const partials = createPartials(clock, (kind, text) =>
    deps.link.signal({ t: 'partial', ...about, kind, text }),
  )

  function append(lines: TranscriptLine[], sourceBytes: number | null = null) {
    partials.flush()
    for (const line of lines) activity = nextActivity(activity, line, timestamp(clock))
    spool.append(lines, sourceBytes)
    deps.delivery.kick(spool)
  }

  function warn(message: string) {
    append([{ type: 'system', subtype: 'notice', level: 'warning', message }])
  }

  async function work(): Promise<void> {
    if (after) await after
    let asked: Run | null = run
    for (let count = 1; asked; count += 1) asked = await attempt(asked, count)
  }

  /** A turn of one process; gives what to ask another one where this one lost its model in the middle. */
  async function attempt(asked: Run, count: number): Promise<Run | null> {
    const turn = await prepareTurn(asked, deps, readAttachment, warn)
    if (isCancelled || isAbandoned) {
      await turn.scratch.remove()
      finish(cancelledResult(run, elapsed()))
      return null
    }
    const owned = await acquireProcess(turn, deps)
    let end: TurnEnd | null = null
    try {
      end = await converse(turn, owned, count)
      exit = end.exit
      const next = followUp(end, count)
      // Before the process has ended, which may take a moment.
      if (!next) finish(resultOf(run, end, elapsed(), stallSeconds))
      return next
    } finally {
      if (end && mayRejoin(turn, owned, end) && run.session_id)
        deps.live.put(run.session_id, turn.signature, owned)
      else await owned.close()
    }
  }

  function followUp({ how, outcome }: TurnEnd, count: number): Run | null {
    if (how !== 'result' || outcome.again === undefined || count === mostAttempts) return null
    return { ...run, message: outcome.again, attachments: [], resume_session_id: outcome.sessionId }
  }

  function converse(turn: PreparedTurn, { process }: OwnedProcess, count: number): Promise<TurnEnd> {
    phase = 'spawned'
    spool.markSpawned()
    if (count === 1) deps.delivery.started(spool, process.pid)
    // Cancelled while the process was being started: it goes before it does anything.
    if (isCancelled || isAbandoned) cancelled.resolve({ graceMs: 0, mayInterrupt: false })
    return runTurn({
      process,
      input: turn.input,
      sink: { lines: append, partial: partials.add },
      timeoutMs: Math.max(0, run.timeout_seconds * 1000 - (count === 1 ? 0 : elapsed())),
      stallMs: stallSeconds * 1000,
      cancelled: cancelled.promise,
      clock,
    })
  }

  function mayRejoin(turn: PreparedTurn, { process }: OwnedProcess, { outcome }: TurnEnd): boolean {
    const isUsable = process.isRunning() && process.sessionId() !== null && !outcome.metadata.session_lost
    return isUsable && !isAbandoned && mayStayAlive(turn, deps)
  }

  function finish(result: Result) {
    partials.flush()
    phase = 'finished'
    finished.resolve()
    if (isAbandoned) return
    spool.finish(result)
    deps.delivery.kick(spool)
  }

  async function readAttachment(index: number): Promise<Buffer> {
    const pieces: Buffer[] = []
    for (let offset = 0; ; ) {
      const answer = await readPiece(index, offset)
      const piece = Buffer.from(answer.data_base64, 'base64')
      pieces.push(piece)
      offset += piece.length
      if (answer.eof || piece.length === 0) return Buffer.concat(pieces)
    }
  }

  /** Through a break of the link, as long as the run itself may take. */
  async function readPiece(index: number, offset: number): Promise<{ data_base64: string; eof: boolean }> {
    for (;;) {
      try {
        const answer = await deps.link.call('attachment', { ...about, index, offset, length: pieceBytes })
        if ('stale' in answer) throw new Error('The run was given to somebody else.')
        return answer
      } catch (fault) {
        const isOver = isCancelled || isAbandoned || elapsed() > run.timeout_seconds * 1000
        if (!(fault instanceof LinkDown) || isOver) throw fault
        await new Promise<void>((resolve) => clock.after(linkRetryMs, resolve))
      }
    }
  }

  const done = work().catch((fault: unknown) => {
    deps.log.warn('turn failed', { execution_id: run.execution_id, reason: faultText(fault) })
    if (phase === 'finished') return
    const message = `The turn could not be started: ${faultText(fault)}`
    finish(isCancelled ? cancelledResult(run, elapsed()) : faultResult(run, elapsed(), message))
  })

  return {
    run,
    done,
    activity: () => activity,
    async cancel(graceMs) {
      if (phase === 'finished') return { state: 'finished' }
      isCancelled = true
      if (phase === 'accepted') return { state: 'parked' }
      cancelled.resolve({ graceMs, mayInterrupt: run.kind === 'chat' })
      await finished.promise
      return { state: 'stopped', returncode: exit ? returnCode(exit) : null }
    },
    abandon(graceMs) {
      isAbandoned = true
      cancelled.resolve({ graceMs, mayInterrupt: false })
    },
  }
}

/** A signal is negative, as Python's `subprocess` has it. */
function returnCode(exit: Exit): number | null {
  if (exit.code !== null) return exit.code
  return exit.signal ? -(signalNumbers[exit.signal] ?? 0) : null
}

const signalNumbers: Partial<Record<NodeJS.Signals, number>> = { SIGINT: 2, SIGKILL: 9, SIGTERM: 15 }
