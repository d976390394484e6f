import type { FieldsOf } from '@roost/contracts/kit/event'
import type { loopCompleted, loopRunCompleted } from '@roost/contracts/runs/loops'
import { createFollowUps } from '../../background/follow-ups.ts'
import type { NewEvent, Outbox } from '../../foundation/outbox/index.ts'
import { principalOn } from '../../identity/access/index.ts'
import { type Clock, secondsLater, timestamp } from '../../kit/clock.ts'
import { isFault } from '../../kit/fault.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import { type Dispatch, type RunContext, type RunContexts, readSource } from '../dispatch/index.ts'
import { dollars, executionStore, isFinal } from '../executions/index.ts'
import {
  type End,
  endAfterRun,
  endBetweenRuns,
  failed,
  failedRuns,
  nextCheck,
  normalizedReply,
  runStatusOf,
  runTimeout,
} from './rules.ts'
import { runRequest } from './run-request.ts'
import { type LoopRow, loopStore, type RunRow } from './store.ts'

export type AdvanceDeps = {
  db: Db
  clock: Clock
  log: Pick<Log, 'warn'>
  events: Pick<Outbox, 'append'>
  dispatch: Pick<Dispatch, 'checkAgent' | 'enqueue'>
  agentName(agentId: string): Promise<string | null>
  runContexts: Pick<RunContexts, 'principal'>
  /** Ids of the agents that this agent may call. */
  permittedTargets(agentId: string): Promise<ReadonlySet<string>>
}

/** Interval of the pass over the tables; the process that planned an earlier step waits for it itself. */
export const passSeconds = 5
/** How long a loop waits for an agent that currently takes no runs. */
const unavailableSeconds = 10
/** Longest wait for a breaker to close; a deadline or a stop takes effect meanwhile. */
const maxPostponeSeconds = 60
const page = 100

/**
 * Takes the next step of a loop. The row and its runs alone determine the step, and each step is a
 * conditional update, so a step taken twice, late or by several processes is harmless.
 */
export function createAdvance(deps: AdvanceDeps) {
  const { db, clock, log, events, dispatch } = deps
  const closing = new AbortController()
  const logFailure = (id: string, error: unknown) =>
    log.warn({ err: error, loop_id: id }, 'a loop was not advanced; it is tried again')
  const followUps = createFollowUps({ look: advance, failed: logFailure })

  async function advance(id: string): Promise<void> {
    const loop = await loopStore(db).find(id)
    if (!loop || loop.completed_at !== null) return
    const agentName = (await deps.agentName(loop.agent_id)) ?? ''
    const open = loop.open_execution_id
    if (open !== null) {
      const run = await executionStore(db).progress(open)
      // A deleted run has ended long ago.
      if (run && !isFinal(run.status)) return
      await db.atomically((tx) => applyEnd(tx, id, { executionId: open, agentName }))
    }
    await startNext(id, agentName)
  }

  /** Applies the end of a run to its loop, once per execution. */
  async function applyEnd(
    tx: Tx,
    id: string,
    { executionId, agentName }: { executionId: string; agentName: string },
  ): Promise<void> {
    const store = loopStore(tx)
    const loop = await store.countEnd(id, executionId)
    if (!loop) return
    const now = clock.now()
    const runs = await store.runs([id])
    const last = runs.at(-1)
    if (last) await events.append(tx, runCompletedEvent(loop, last, agentName), now)
    const response = await responseOf(tx, last?.status === 'success' ? last : undefined)
    const isStuck = await hasNoProgress(tx, loop, runs)
    const end = endAfterRun({ loop, runs, response, isStuck, now })
    if (end) await endIn(tx, loop, { runs, end, agentName })
    else await store.checkAgainAt(id, timestamp(nextCheck(loop, runs, now)))
  }

  async function responseOf(tx: Tx, run: RunRow | undefined): Promise<string | null> {
    if (!run) return null
    return (await loopStore(tx).responses([run.id])).get(run.id) ?? null
  }

  /** Reads replies one by one from the newest, because the second usually differs already. */
  async function hasNoProgress(tx: Tx, loop: LoopRow, runs: readonly RunRow[]): Promise<boolean> {
    const threshold = loop.no_progress_threshold
    const successful = runs.filter(({ status }) => status === 'success').toReversed()
    if (threshold === 0 || successful.length < threshold) return false
    const [newest, ...earlier] = successful.slice(0, threshold)
    const reply = normalizedReply((await responseOf(tx, newest)) ?? '')
    for (const run of earlier) {
      if (normalizedReply((await responseOf(tx, run)) ?? '') !== reply) return false
    }
    return true
  }

  async function endIn(
    tx: Tx,
    loop: LoopRow,
    { runs, end, agentName }: { runs: readonly RunRow[]; end: End; agentName: string },
  ): Promise<void> {
    const now = clock.now()
    await loopStore(tx).end(loop.id, { ...end, completed_at: timestamp(now) })
    await events.append(tx, completedEvent(loop, { runs, end, agentName }), now)
  }

  /** Dispatches the next run of an idle loop when it is due, or ends the loop. */
  async function startNext(id: string, agentName: string): Promise<void> {
    const loop = await loopStore(db).find(id)
    if (!loop || loop.completed_at !== null || loop.open_execution_id !== null) return
    const waits = loop.stop_requested_at === null ? millisecondsUntil(loop.next_run_at) : 0
    if (waits > 0) return waitFor(id, waits)
    const agent = await ready(loop)
    try {
      await db.atomically((tx) => dispatchIn(tx, id, { agent, agentName }))
    } catch (error) {
      if (isFault(error, 'circuit_open')) return postpone(id, Number(error.fields.retry_after_seconds))
      throw error
    }
  }

  /**
   * The agent, when it takes runs. The loop waits for a stopped one, as queued runs do. An agent that started
   * the loop needs its permission for each run.
   */
  async function ready(loop: LoopRow): Promise<RunContext | 'not_permitted' | { ended: string } | null> {
    // Written by this feature.
    const { agent: starter, principal } = readSource(loop.source)
    const on = principalOn(loop.agent_id, principal)
    const present = await deps.runContexts.principal(loop.agent_id, on)
    if ('ended' in present) return present
    if (starter && starter.id !== loop.agent_id) {
      const permitted = await deps.permittedTargets(starter.id)
      if (!permitted.has(loop.agent_id)) return 'not_permitted'
    }
    try {
      return await dispatch.checkAgent(loop.agent_id)
    } catch (error) {
      if (isFault(error, 'agent_not_running', 'agent_not_found')) return null
      throw error
    }
  }

  async function dispatchIn(
    tx: Tx,
    id: string,
    {
      agent,
      agentName,
    }: { agent: RunContext | 'not_permitted' | { ended: string } | null; agentName: string },
  ): Promise<void> {
    const store = loopStore(tx)
    const loop = await store.holdIdle(id)
    if (!loop) return
    const now = clock.now()
    const runs = await store.runs([id])
    const end = endBetweenRuns(loop, runs, now)
    if (end) return endIn(tx, loop, { runs, end, agentName })
    if (agent === 'not_permitted') {
      const reason = 'The agent that started the loop may no longer call this one.'
      return endIn(tx, loop, { runs, end: failed(reason), agentName })
    }
    if (agent && 'ended' in agent) return endIn(tx, loop, { runs, end: failed(agent.ended), agentName })
    if (!agent) return store.checkAgainAt(id, timestamp(secondsLater(now, unavailableSeconds)))
    // Another process has postponed it meanwhile.
    if (millisecondsUntil(loop.next_run_at) > 0) return
    const previous = await responseOf(
      tx,
      runs.findLast(({ status }) => status === 'success'),
    )
    const timeoutSeconds = runTimeout(loop, runs, now)
    const request = runRequest(loop, { number: loop.runs_completed + 1, previous, timeoutSeconds })
    const { row } = await dispatch.enqueue(tx, agent, request)
    await store.opened(id, row.id)
  }

  /** Postpones the run without recording a failed one, because nothing was sent to the agent. */
  async function postpone(id: string, seconds: number): Promise<void> {
    const wait = Number.isFinite(seconds) ? Math.min(seconds, maxPostponeSeconds) : unavailableSeconds
    const later = secondsLater(clock.now(), wait)
    await loopStore(db).checkAgainAt(id, timestamp(later))
  }

  function millisecondsUntil(at: string | null): number {
    return at === null ? 0 : Date.parse(at) - clock.now().getTime()
  }

  function waitFor(id: string, ms: number): void {
    if (ms > passSeconds * 1000) return
    void clock.wait(ms, closing.signal).then(() => {
      if (!closing.signal.aborted) followUps.soon(id)
    })
  }

  return {
    /** Call after a commit that ended its run or requested a stop. */
    soon: followUps.soon,

    /** Advances every loop with a pending step, so that work of a killed process is completed. */
    async all(signal: AbortSignal): Promise<void> {
      const ids = await loopStore(db).due(timestamp(clock.now()), page)
      for (const id of ids) {
        if (signal.aborted) return
        await advance(id).catch((error: unknown) => logFailure(id, error))
      }
    },

    settled: followUps.settled,

    /** Cancels all waits. */
    async close(): Promise<void> {
      closing.abort()
      await followUps.settled()
    },
  }
}

/** The event of a run that has ended and was counted. */
export function runCompletedEvent(loop: LoopRow, run: RunRow, agentName: string): NewEvent {
  const status = runStatusOf(run.status)
  const fields: FieldsOf<typeof loopRunCompleted> = {
    loop_id: loop.id,
    run_number: loop.runs_completed,
    execution_id: run.id,
    // It has ended, so `running` means that its row was deleted.
    status: status === 'running' ? 'cancelled' : status,
    cost: dollars(run.cost_micros),
    cost_estimated: run.cost_estimated === 1,
    duration_ms: run.duration_ms,
  }
  return { type: 'loop.run_completed', agent_names: [agentName], agent_ids: [loop.agent_id], fields }
}

export function completedEvent(
  loop: LoopRow,
  { runs, end, agentName }: { runs: readonly RunRow[]; end: End; agentName: string },
): NewEvent {
  const fields: FieldsOf<typeof loopCompleted> = {
    loop_id: loop.id,
    status: end.status,
    stop_reason: end.stop_reason,
    runs_completed: loop.runs_completed,
    failed_runs: failedRuns(runs),
  }
  return { type: 'loop.completed', agent_names: [agentName], agent_ids: [loop.agent_id], fields }
}
