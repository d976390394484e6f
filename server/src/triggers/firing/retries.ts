import { agentStore } from '../../agents/records/index.ts'
import { type Clock, secondsLater, timestamp } from '../../kit/clock.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import type { Dispatch } from '../../runs/dispatch/index.ts'
import type { ExecutionRow, Settle } from '../../runs/executions/index.ts'
import { scheduleRunStore } from '../fires/index.ts'
import type { Schedule, Schedules } from '../schedules/index.ts'
import { isRetried, refusalOfRetry, retryDelaySeconds } from './rules.ts'

export type RetryDeps = Settle & {
  db: Db
  clock: Pick<Clock, 'now'>
  log: Pick<Log, 'warn'>
  dispatch: Pick<Dispatch, 'planRetry' | 'enqueueRetry'>
  schedules: Pick<Schedules, 'byId'>
}

/** A pass runs every few seconds. */
const maxPerPass = 500

export type Retries = {
  /** Plans the next attempt in the transaction that fails the run. False when the run is not retried. */
  plan(tx: Tx, row: ExecutionRow, schedule: Schedule | null, now: Date): Promise<boolean>
  /** Enqueues every retry that is due, and cancels those that are no longer allowed. */
  pass(signal: AbortSignal): Promise<void>
  /** Cancels the pending retries of a deleted schedule. */
  cancel(tx: Tx, scheduleId: string): Promise<void>
}

export function createRetries({ db, clock, log, dispatch, schedules, settle }: RetryDeps): Retries {
  async function conditionsOf(tx: Tx, row: ExecutionRow, schedule: Schedule | null) {
    const first = row.retry_of_execution_id
    const trigger = first === null ? row.triggered_by : await scheduleRunStore(tx).triggerOf(first)
    const isByClock = trigger === 'schedule'
    return {
      maxRetries: schedule?.max_retries ?? null,
      isByClock,
      isEnabled: schedule?.enabled === 1,
      isAutonomous: !isByClock || ((await agentStore(tx).byId(row.agent_id))?.autonomy_enabled ?? false),
    }
  }

  function cancelRetry(tx: Tx, row: ExecutionRow, error: string): Promise<ExecutionRow | null> {
    const ending = { status: 'cancelled', error, terminal_reason: 'cancelled' } as const
    return settle(tx, row, { statuses: ['pending_retry'] }, ending)
  }

  async function enqueueOrCancel(tx: Tx, row: ExecutionRow): Promise<void> {
    const schedule = row.schedule_id === null ? null : await schedules.byId(row.schedule_id, tx)
    const refusal = refusalOfRetry(await conditionsOf(tx, row, schedule))
    if (refusal) {
      await cancelRetry(tx, row, refusal)
      return
    }
    const now = clock.now()
    if ((row.retry_scheduled_at ?? '') > timestamp(now)) return
    const result = await dispatch.enqueueRetry(tx, row)
    if (typeof result === 'boolean') return
    // The breaker is open. Failing the retry would use up an attempt that never ran.
    await scheduleRunStore(tx).postpone(row.id, timestamp(secondsLater(now, result.retryAfterSeconds)))
  }

  return {
    async plan(tx, row, schedule, now) {
      const { attempt_number: attemptNumber, error_code: errorCode } = row
      if (!isRetried({ ...(await conditionsOf(tx, row, schedule)), attemptNumber, errorCode })) return false
      const delay = retryDelaySeconds(schedule?.retry_delay_seconds ?? 0, errorCode)
      await dispatch.planRetry(tx, row, secondsLater(now, delay))
      return true
    },

    async pass(signal) {
      for (const row of await scheduleRunStore(db).pendingRetries(maxPerPass)) {
        if (signal.aborted) return
        // A failure does not block other retries; the next pass tries again.
        await db
          .atomically((tx) => enqueueOrCancel(tx, row))
          .catch((error: unknown) =>
            log.warn({ execution_id: row.id, err: error }, 'a retry could not be enqueued'),
          )
      }
    },

    async cancel(tx, scheduleId) {
      for (const row of await scheduleRunStore(tx).pendingOf(scheduleId)) {
        await cancelRetry(tx, row, 'The schedule was deleted.')
      }
    },
  }
}
