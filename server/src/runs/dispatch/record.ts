import type { ExecutionErrorCode } from '@roost/contracts/runs/executions'
import type { RunContext } from '../../agents/run-context/index.ts'
import type { Outbox } from '../../foundation/outbox/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { isFault } from '../../kit/fault.ts'
import { newId } from '../../kit/ids.ts'
import type { AgentLink } from '../../ports/agent-link/port.ts'
import type { Tx } from '../../ports/database/port.ts'
import type { DispatchBreaker } from '../breaker/index.ts'
import {
  createdEvent,
  type ExecutionRow,
  executionStore,
  finishedEvent,
  queueStore,
  startedEvent,
} from '../executions/index.ts'
import type { RunRequest } from './request.ts'
import { notYet, rowOf } from './row.ts'

export type RecordDeps = {
  clock: Pick<Clock, 'now'>
  events: Pick<Outbox, 'append'>
  link: Pick<AgentLink, 'wake'>
  breaker: DispatchBreaker
}

/** Why a run ends before it began. */
export type NotRun =
  | { status: 'skipped'; reason: string }
  | { status: 'failed'; error: string; error_code: ExecutionErrorCode }

export type Records = {
  /** The record of a run that is not made: written as it ends, it was never in the line and cost nothing. */
  recordSkipped(tx: Tx, agent: RunContext, request: RunRequest, why: NotRun): Promise<ExecutionRow>
  /**
   * The record of a run that the platform itself carries, such as a telephone call: running from now on, without a
   * claim, so that no agent is handed it and it takes no slot. Whoever opens it ends it, by `settle`.
   */
  recordRunning(tx: Tx, agent: RunContext, request: RunRequest): Promise<ExecutionRow>
  /** The next attempt at a run that has just failed; it waits until `at` before it gets its place in the line. */
  planRetry(tx: Tx, failed: ExecutionRow, at: Date): Promise<ExecutionRow>
  /**
   * pending_retry → queued. False: it was not pending any more. While the breaker is open nothing changes and
   * the seconds are told after which it may be asked again.
   */
  enqueueRetry(tx: Tx, row: ExecutionRow): Promise<boolean | { retryAfterSeconds: number }>
}

/** Records of runs that do not enter the line, or not yet. */
export function createRecords({ clock, events, link, breaker }: RecordDeps): Records {
  return {
    async recordSkipped(tx, agent, request, why) {
      const number = await queueStore(tx).lockQueue(agent.id)
      const now = clock.now()
      const row = notRunRow({ agent, request, why }, { number, now })
      await executionStore(tx).insert(row)
      await events.append(tx, createdEvent(row), now)
      await events.append(tx, finishedEvent(row), now)
      return row
    },

    async recordRunning(tx, agent, request) {
      const number = await queueStore(tx).lockQueue(agent.id)
      const now = clock.now()
      const id = request.executionId ?? newId()
      const place = { id, number, bounded: false, held: true, chain_depth: request.chainDepth ?? 0, now }
      const at = timestamp(now)
      const row: ExecutionRow = {
        ...rowOf(agent, request, place),
        status: 'running',
        started_at: at,
        // No runtime is waited for.
        spawned_at: at,
      }
      await executionStore(tx).insert(row)
      await events.append(tx, createdEvent(row), now)
      await events.append(tx, startedEvent(row), now)
      return row
    },

    async planRetry(tx, failed, at) {
      const queue_number = await queueStore(tx).lockQueue(failed.agent_id)
      const now = clock.now()
      const row: ExecutionRow = {
        ...failed,
        ...notYet,
        id: newId(),
        status: 'pending_retry',
        triggered_by: 'retry',
        created_at: timestamp(now),
        queued_at: null,
        queue_number,
        is_bounded: 0,
        attempt_number: failed.attempt_number + 1,
        retry_of_execution_id: failed.retry_of_execution_id ?? failed.id,
        retry_scheduled_at: timestamp(at),
      }
      await executionStore(tx).insert(row)
      await events.append(tx, createdEvent(row), now)
      return row
    },

    async enqueueRetry(tx, row) {
      const queue = queueStore(tx)
      const number = await queue.lockQueue(row.agent_id)
      try {
        // The agent's name is for the refusal's words, which nobody is told here.
        await breaker.admitIn(tx, { id: row.agent_id, name: row.agent_name }, row.id)
      } catch (error) {
        if (!isFault(error, 'circuit_open')) throw error
        const { retry_after_seconds } = error.fields
        return { retryAfterSeconds: typeof retry_after_seconds === 'number' ? retry_after_seconds : 60 }
      }
      const at = await queue.endOfQueue(row.agent_id, timestamp(clock.now()))
      const entered = await queue.releaseRetry(row.id, { number, at })
      if (entered) tx.onCommitted(() => link.wake(row.agent_id))
      return entered
    },
  }
}

/** Its record; `number` is the agent's next. */
export function notRunRow(
  { agent, request, why }: { agent: RunContext; request: RunRequest; why: NotRun },
  { number, now }: { number: number; now: Date },
): ExecutionRow {
  const id = request.executionId ?? newId()
  return {
    ...rowOf(agent, request, { id, number, bounded: false, held: true, chain_depth: 0, now }),
    completed_at: timestamp(now),
    cost_micros: 0,
    ...(why.status === 'skipped'
      ? { status: 'skipped', skip_reason: why.reason }
      : { status: 'failed', error: why.error, error_code: why.error_code }),
  }
}
