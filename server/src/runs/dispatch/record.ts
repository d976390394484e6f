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
import { initialState, rowOf } from './row.ts'

export type RecordDeps = {
  clock: Pick<Clock, 'now'>
  events: Pick<Outbox, 'append'>
  link: Pick<AgentLink, 'wake'>
  breaker: DispatchBreaker
}

/** Why a run ends before it starts. */
export type NotRun =
  | { status: 'skipped'; reason: string }
  | { status: 'failed'; error: string; error_code: ExecutionErrorCode }

export type Records = {
  /** Records a run that does not happen: final from the start, never queued, without cost. */
  recordSkipped(tx: Tx, agent: RunContext, request: RunRequest, notRun: NotRun): Promise<ExecutionRow>
  /**
   * Records a run that the platform itself carries, such as a phone call. It is running without a claim, so
   * no agent gets it and it takes no slot. The caller ends it with `settle`.
   */
  recordRunning(tx: Tx, agent: RunContext, request: RunRequest): Promise<ExecutionRow>
  /** Plans the next attempt of a run that has just failed; it is queued at `at`. */
  planRetry(tx: Tx, failed: ExecutionRow, at: Date): Promise<ExecutionRow>
  /**
   * pending_retry → queued. Returns false when it is no longer pending. While the breaker is open nothing
   * changes, and the result has the seconds to wait.
   */
  enqueueRetry(tx: Tx, row: ExecutionRow): Promise<boolean | { retryAfterSeconds: number }>
}

/** Records of runs that are not queued, or not yet. */
export function createRecords({ clock, events, link, breaker }: RecordDeps): Records {
  return {
    async recordSkipped(tx, agent, request, notRun) {
      const number = await queueStore(tx).lockQueue(agent.id)
      const now = clock.now()
      const row = notRunRow({ agent, request, notRun }, { number, now })
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
        // No runtime will be spawned.
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
        ...initialState,
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
        // The name is only used in the error message, which nobody sees here.
        await breaker.admitIn(tx, { id: row.agent_id, name: row.agent_name }, row.id)
      } catch (error) {
        if (!isFault(error, 'circuit_open')) throw error
        const { retry_after_seconds } = error.fields
        return { retryAfterSeconds: typeof retry_after_seconds === 'number' ? retry_after_seconds : 60 }
      }
      const at = await queue.endOfQueue(row.agent_id, timestamp(clock.now()))
      const entered = await queue.releaseRetry(row.id, { number, at })
      if (entered) tx.onCommitted(() => link.wake(row.agent_id))
      else await breaker.withdraw(tx, row.agent_id, row.id)
      return entered
    },
  }
}

/** Row of a run that does not happen; `number` is the agent's next queue number. */
export function notRunRow(
  { agent, request, notRun }: { agent: RunContext; request: RunRequest; notRun: NotRun },
  { number, now }: { number: number; now: Date },
): ExecutionRow {
  const id = request.executionId ?? newId()
  return {
    ...rowOf(agent, shortened(request, notRun), {
      id,
      number,
      bounded: false,
      held: true,
      chain_depth: 0,
      now,
    }),
    completed_at: timestamp(now),
    cost_micros: 0,
    ...(notRun.status === 'skipped'
      ? { status: 'skipped', skip_reason: notRun.reason }
      : { status: 'failed', error: notRun.error, error_code: notRun.error_code }),
  }
}

/** A schedule of every minute whose agent is stopped has a skipped run each minute. */
function shortened(request: RunRequest, { status }: NotRun): RunRequest {
  if (status !== 'skipped' || request.message.length <= maxSkippedMessage) return request
  return { ...request, message: `${request.message.slice(0, maxSkippedMessage).toWellFormed()}…` }
}

/** In characters. */
const maxSkippedMessage = 2000
