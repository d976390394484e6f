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

/** Retries of one pass; a pass is every few seconds. */
const page = 500

export type Retries = {
  /** Plans the next attempt at a run that has just failed, in the transaction that fails it. False: there is none. */
  plan(tx: Tx, row: ExecutionRow, schedule: Schedule | null, now: Date): Promise<boolean>
  /** Gives every retry whose time has come its place in the line, and cancels those that may not be made any more. */
  pass(signal: AbortSignal): Promise<void>
  /** Cancels what waits of a schedule that is deleted. */
  cancel(tx: Tx, scheduleId: string): Promise<void>
}

export function createRetries({ db, clock, log, dispatch, schedules, settle }: RetryDeps): Retries {
  async function factsOf(tx: Tx, row: ExecutionRow, schedule: Schedule | null) {
    const first = row.retry_of_execution_id
    const trigger = first === null ? row.triggered_by : await scheduleRunStore(tx).triggerOf(first)
    const isOfClock = trigger === 'schedule'
    return {
      maxRetries: schedule?.max_retries ?? null,
      isOfClock,
      isEnabled: schedule?.enabled === 1,
      isAutonomous: !isOfClock || ((await agentStore(tx).byId(row.agent_id))?.autonomy_enabled ?? false),
    }
  }

  function end(tx: Tx, row: ExecutionRow, error: string): Promise<ExecutionRow | null> {
    const ending = { status: 'cancelled', error, terminal_reason: 'cancelled' } as const
    return settle(tx, row, { statuses: ['pending_retry'] }, ending)
  }

  async function look(tx: Tx, row: ExecutionRow): Promise<void> {
    const schedule = row.schedule_id === null ? null : await schedules.byId(row.schedule_id, tx)
    const refusal = refusalOfRetry(await factsOf(tx, row, schedule))
    if (refusal) {
      await end(tx, row, refusal)
      return
    }
    const now = clock.now()
    if ((row.retry_scheduled_at ?? '') > timestamp(now)) return
    const entered = await dispatch.enqueueRetry(tx, row)
    if (typeof entered === 'boolean') return
    // The breaker is open: failing the retry would use up an attempt that nobody made.
    await scheduleRunStore(tx).postpone(row.id, timestamp(secondsLater(now, entered.retryAfterSeconds)))
  }

  return {
    async plan(tx, row, schedule, now) {
      const { attempt_number: attemptNumber, error_code: errorCode } = row
      if (!isRetried({ ...(await factsOf(tx, row, schedule)), attemptNumber, errorCode })) return false
      const delay = retryDelaySeconds(schedule?.retry_delay_seconds ?? 0, errorCode)
      await dispatch.planRetry(tx, row, secondsLater(now, delay))
      return true
    },

    async pass(signal) {
      for (const row of await scheduleRunStore(db).pendingRetries(page)) {
        if (signal.aborted) return
        // One that fails holds up no other, and is looked at again in the next pass.
        await db
          .atomically((tx) => look(tx, row))
          .catch((error: unknown) =>
            log.warn({ execution_id: row.id, err: error }, 'a retry could not be made'),
          )
      }
    },

    async cancel(tx, scheduleId) {
      for (const row of await scheduleRunStore(tx).pendingOf(scheduleId)) {
        await end(tx, row, 'The schedule was deleted.')
      }
    },
  }
}
