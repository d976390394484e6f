import type { CancelAnswer, Run } from '@roost/contracts/link/runs'
import { type TranscriptLine, wholeKinds } from '@roost/contracts/link/transcript'
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
import { cancelledResult, faultResult, type Result, resultOf, unpreparedResult } from './result.ts'
import { runTurn, type TurnEnd } from './run-turn.ts'

/** One run in this program, from its claim to its spooled result. */
export type Execution = {
  readonly run: Run
  /** Settles when the result is spooled and the process has ended or returned to the pool. */
  readonly done: Promise<void>
  activity(): Activity
  cancel(graceMs: number): Promise<CancelAnswer>
  /** Stops the process without a report, because another agent has the run. */
  abandon(graceMs: number): void
}

export type ExecutionDeps = PrepareDeps & {
  link: Pick<Link, 'call' | 'signal'>
  delivery: Delivery
  log: Log
}

class PreparationTimeout extends Error {}

type Cancel = { graceMs: number; mayInterrupt: boolean }

const pieceBytes = 1024 * 1024
const linkRetryMs = 500
/** Maximum number of processes per run. Each platform restart during a run may cost one. */
const maxAttempts = 3

/** Starts the run once `after`, the previous turn of its conversation, is done. */
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
  const partials = createPartials(clock, (kind, text, at) =>
    deps.link.signal({ t: 'partial', ...about, kind, text, at }),
  )

  function append(lines: TranscriptLine[], sourceBytes: number | null = null) {
    partials.flush()
    partials.close(wholeKinds(lines))
    for (const line of lines) activity = nextActivity(activity, line, timestamp(clock))
    spool.append(lines, sourceBytes)
    deps.delivery.kick(spool)
  }

  function warn(message: string) {
    append([{ type: 'system', subtype: 'notice', level: 'warning', message }])
  }

  async function work(): Promise<void> {
    if (after) await after
    let current: Run | null = run
    for (let count = 1; current; count += 1) current = await attempt(current, count)
  }

  /** Runs the turn in one process. Returns a follow-up run if the model connection broke, else null. */
  async function attempt(current: Run, count: number): Promise<Run | null> {
    const turn = await prepareInTime(current, count)
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
      // The next turn may follow at once, and waits for both.
      const sharing = deps.sharing.after(turn.place)
      // Reported immediately: the process may take a moment to end.
      if (!next) finish(resultOf(run, end, elapsed(), stallSeconds))
      await Promise.all([sharing, deps.users.clear(owned.process.killDetached())])
      return next
    } finally {
      if (end && canReturnToPool(turn, owned, end) && run.session_id)
        deps.live.put(run.session_id, turn.signature, owned)
      else await owned.close()
    }
  }

  /** A preparation may hang, for example on a broken disk. The run ends nevertheless. */
  async function prepareInTime(current: Run, count: number): Promise<PreparedTurn> {
    const preparing = prepareTurn(current, deps, readAttachment, warn)
    const { promise: late, reject } = Promise.withResolvers<never>()
    const cancelLimit = clock.after(timeoutMs(count), () => reject(new PreparationTimeout()))
    try {
      return await Promise.race([preparing, late])
    } catch (fault) {
      void preparing.then(({ scratch }) => scratch.remove()).catch(() => {})
      throw fault
    } finally {
      cancelLimit()
    }
  }

  function timeoutMs(count: number): number {
    return Math.max(0, run.timeout_seconds * 1000 - (count === 1 ? 0 : elapsed()))
  }

  function followUp({ how, outcome }: TurnEnd, count: number): Run | null {
    if (how !== 'result' || outcome.retryMessage === undefined || count === maxAttempts) return null
    return { ...run, message: outcome.retryMessage, attachments: [], resume_session_id: outcome.sessionId }
  }

  function converse(turn: PreparedTurn, { process }: OwnedProcess, count: number): Promise<TurnEnd> {
    phase = 'spawned'
    spool.markSpawned()
    if (count === 1) deps.delivery.started(spool, process.pid)
    // Cancelled during startup: the process is stopped before it does anything.
    if (isCancelled || isAbandoned) cancelled.resolve({ graceMs: 0, mayInterrupt: false })
    return runTurn({
      process,
      input: turn.input,
      sink: { lines: append, partial: partials.add },
      timeoutMs: timeoutMs(count),
      stallMs: stallSeconds * 1000,
      cancelled: cancelled.promise,
      clock,
    })
  }

  function canReturnToPool(turn: PreparedTurn, { process }: OwnedProcess, { outcome }: TurnEnd): boolean {
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

  /** Retries after a broken link, up to the time limit of the run. */
  async function readPiece(index: number, offset: number): Promise<{ data_base64: string; eof: boolean }> {
    for (;;) {
      try {
        const answer = await deps.link.call('attachment', { ...about, index, offset, length: pieceBytes })
        if ('stale' in answer) throw new Error('The run was assigned to another agent.')
        return answer
      } catch (fault) {
        const hasEnded = isCancelled || isAbandoned || elapsed() > run.timeout_seconds * 1000
        if (!(fault instanceof LinkDown) || hasEnded) throw fault
        await new Promise<void>((resolve) => clock.after(linkRetryMs, resolve))
      }
    }
  }

  const done = work().catch((fault: unknown) => {
    deps.log.warn('turn failed', { execution_id: run.execution_id, reason: faultText(fault) })
    if (phase === 'finished') return
    const message = `The turn could not be started: ${faultText(fault)}`
    if (isCancelled) finish(cancelledResult(run, elapsed()))
    else if (fault instanceof PreparationTimeout) finish(unpreparedResult(run, elapsed()))
    else finish(faultResult(run, elapsed(), message))
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

/** Signals are negative numbers, as in Python's `subprocess`. */
function returnCode(exit: Exit): number | null {
  if (exit.code !== null) return exit.code
  return exit.signal ? -(signalNumbers[exit.signal] ?? 0) : null
}

const signalNumbers: Partial<Record<NodeJS.Signals, number>> = { SIGINT: 2, SIGKILL: 9, SIGTERM: 15 }
