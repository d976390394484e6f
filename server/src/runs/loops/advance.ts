import { createFollowUps } from '../../background/follow-ups.ts'
import type { Outbox } from '../../foundation/outbox/index.ts'
import { type Clock, secondsLater, timestamp } from '../../kit/clock.ts'
import { isFault } from '../../kit/fault.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import type { Dispatch, RunContext, Source } from '../dispatch/index.ts'
import { executionStore, isFinal } from '../executions/index.ts'
import { completedEvent, runCompletedEvent } from './events.ts'
import { collapsed, type End, endAfterRun, endBetweenRuns, failed, nextLook, runTimeout } from './rules.ts'
import { runRequest } from './run-request.ts'
import { type LoopRow, loopStore, type RunRow } from './store.ts'

export type AdvanceDeps = {
  db: Db
  clock: Clock
  log: Pick<Log, 'warn'>
  events: Pick<Outbox, 'append'>
  dispatch: Pick<Dispatch, 'checkAgent' | 'enqueue'>
  agentName(agentId: string): Promise<string | null>
  /** Ids of the agents that this one may call. */
  permittedTargets(agentId: string): Promise<ReadonlySet<string>>
}

/** How often the tables are looked through; sooner looks are waited for in the process that planned them. */
export const passSeconds = 5
/** How long a loop waits for an agent that takes no runs at present. */
const hinderedSeconds = 10
/** At most as long for a breaker to close: a deadline and a stop are heard meanwhile. */
const longestPutOffSeconds = 60
const page = 100

/**
 * Takes a loop's next step, whatever led to it: the row and its runs alone say which one it is, and each step
 * is a conditional update, so one that is taken twice, late, or by several processes at once does no harm.
 */
export function createAdvance(deps: AdvanceDeps) {
  const { db, clock, log, events, dispatch } = deps
  const closing = new AbortController()
  const tell = (id: string, error: unknown) =>
    log.warn({ err: error, loop_id: id }, 'a loop was not advanced; it is looked at again')
  const followUps = createFollowUps({ look: advance, failed: tell })

  async function advance(id: string): Promise<void> {
    const loop = await loopStore(db).find(id)
    if (!loop || loop.completed_at !== null) return
    const agentName = (await deps.agentName(loop.agent_id)) ?? ''
    const open = loop.open_execution_id
    if (open !== null) {
      const run = await executionStore(db).progress(open)
      // A run that is gone has ended long ago.
      if (run && !isFinal(run.status)) return
      await db.atomically((tx) => takeEnd(tx, id, { executionId: open, agentName }))
    }
    await goOn(id, agentName)
  }

  /** Once for each execution: what its end means for the loop. */
  async function takeEnd(
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
    else await store.lookAgainAt(id, timestamp(nextLook(loop, runs, now)))
  }

  async function responseOf(tx: Tx, run: RunRow | undefined): Promise<string | null> {
    if (!run) return null
    return (await loopStore(tx).responses([run.id])).get(run.id) ?? null
  }

  /** Replies are read one by one from the newest on: most often the second is another one already. */
  async function hasNoProgress(tx: Tx, loop: LoopRow, runs: readonly RunRow[]): Promise<boolean> {
    const threshold = loop.no_progress_threshold
    const answered = runs.filter(({ status }) => status === 'success').toReversed()
    if (threshold === 0 || answered.length < threshold) return false
    const [newest, ...earlier] = answered.slice(0, threshold)
    const reply = collapsed((await responseOf(tx, newest)) ?? '')
    for (const run of earlier) {
      if (collapsed((await responseOf(tx, run)) ?? '') !== reply) return false
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

  /** Dispatches the next run of an idle loop when its time has come, or ends the loop. */
  async function goOn(id: string, agentName: string): Promise<void> {
    const loop = await loopStore(db).find(id)
    if (!loop || loop.completed_at !== null || loop.open_execution_id !== null) return
    const waits = loop.stop_requested_at === null ? millisecondsUntil(loop.next_run_at) : 0
    if (waits > 0) return waitFor(id, waits)
    const agent = await ready(loop)
    try {
      await db.atomically((tx) => dispatchIn(tx, id, { agent, agentName }))
    } catch (error) {
      if (isFault(error, 'circuit_open')) return putOff(id, Number(error.fields.retry_after_seconds))
      if (!isFault(error, 'inter_agent_depth_exceeded')) throw error
      await db.atomically((tx) => giveUp(tx, id, { reason: error.message, agentName }))
    }
  }

  /**
   * The agent, when it takes runs. A stopped one is waited for, like the runs that stand in its line; an agent
   * that asked for the loop needs its permission for each run.
   */
  async function ready(loop: LoopRow): Promise<RunContext | 'not_permitted' | null> {
    // Written by this feature.
    const { agent: asking } = JSON.parse(loop.source) as Source
    if (asking && asking.id !== loop.agent_id) {
      const permitted = await deps.permittedTargets(asking.id)
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
    { agent, agentName }: { agent: RunContext | 'not_permitted' | null; agentName: string },
  ): Promise<void> {
    const store = loopStore(tx)
    const loop = await store.holdIdle(id)
    if (!loop) return
    const now = clock.now()
    const runs = await store.runs([id])
    const end = endBetweenRuns(loop, runs, now)
    if (end) return endIn(tx, loop, { runs, end, agentName })
    if (agent === 'not_permitted') {
      const reason = 'The agent that asked for the loop may not call this one any more.'
      return endIn(tx, loop, { runs, end: failed(reason), agentName })
    }
    if (!agent) return store.lookAgainAt(id, timestamp(secondsLater(now, hinderedSeconds)))
    // Somebody else has looked and put it off meanwhile.
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

  async function giveUp(
    tx: Tx,
    id: string,
    { reason, agentName }: { reason: string; agentName: string },
  ): Promise<void> {
    const loop = await loopStore(tx).holdIdle(id)
    if (!loop) return
    const runs = await loopStore(tx).runs([id])
    await endIn(tx, loop, { runs, end: failed(reason), agentName })
  }

  /** Not a failed run: nothing was asked of the agent. */
  async function putOff(id: string, seconds: number): Promise<void> {
    const wait = Number.isFinite(seconds) ? Math.min(seconds, longestPutOffSeconds) : hinderedSeconds
    const later = secondsLater(clock.now(), wait)
    await loopStore(db).lookAgainAt(id, timestamp(later))
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
    /** After a commit in which its run ended or a stop was asked for. */
    soon: followUps.soon,

    /** Every loop for which there is something to do: what a killed process left undone is done here. */
    async all(signal: AbortSignal): Promise<void> {
      const ids = await loopStore(db).due(timestamp(clock.now()), page)
      for (const id of ids) {
        if (signal.aborted) return
        await advance(id).catch((error: unknown) => tell(id, error))
      }
    },

    settled: followUps.settled,

    /** Nothing is waited for any more. */
    async close(): Promise<void> {
      closing.abort()
      await followUps.settled()
    },
  }
}
