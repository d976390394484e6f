import { Fault } from '../../kit/fault.ts'
import { newId } from '../../kit/ids.ts'
import type { Tx } from '../../ports/database/port.ts'
import type { Source } from '../../runs/dispatch/index.ts'
import { executionStore } from '../../runs/executions/index.ts'
import { fireStore, scheduleRunStore } from '../fires/index.ts'
import type { Schedule } from '../schedules/index.ts'
import { createByClock } from './by-clock.ts'
import { decidedFire, type Fired } from './decided.ts'
import type { FireDeps } from './deps.ts'
import { startedEvent } from './events.ts'
import { withContext } from './message.ts'
import { createFireRequests } from './requests.ts'
import { createWithin } from './within.ts'

export type FireAsked = {
  cause: 'clock' | 'manual' | 'webhook'
  /** Of the clock: the due time, which fires at most once. */
  dueAt?: string | undefined
  /** What came with the call; follows the message as data. */
  context?: string | null | undefined
  /** Kept with the record. */
  metadata?: Record<string, unknown> | null | undefined
  /** Who asked; null is nobody. */
  by?: Source | null
  /** The id that the record gets; the same again is answered with the run that has it. */
  executionId?: string | undefined
  /** Of a call by hand or a webhook: written in the transaction that makes the run. */
  keep?: ((tx: Tx, executionId: string) => Promise<void>) | undefined
}

export function createFire(deps: FireDeps) {
  const { db, clock, events, agentRecords, dispatch } = deps
  const within = createWithin(deps)
  const { byClock } = createByClock(deps)
  const { requestOf, recipientRefusal } = createFireRequests(deps)

  async function byHand(schedule: Schedule, asked: FireAsked): Promise<Fired> {
    const message = withContext(schedule.message, asked.context, newId())
    const executionId = asked.executionId ?? newId()
    const fact = await dispatch.checkAgent(schedule.agent_id)
    const agent = await agentRecords.byId(schedule.agent_id)
    if (!agent) throw new Fault('agent_not_found')
    const refusal = await recipientRefusal(schedule, agent)
    const { metadata, by } = asked
    const trigger = asked.cause === 'webhook' ? 'webhook' : 'manual'
    const request = requestOf(schedule, { executionId, message, trigger, by: by ?? null, metadata })
    // All of them take the caller's own locks first and then their agent's queue, so they go together.
    const transaction = (work: (tx: Tx) => Promise<void>, lastly: () => void) =>
      dispatch.transaction(work, { kind: 'fire', about: schedule.agent_id, lastly })
    await within(transaction, async (tx) => {
      await asked.keep?.(tx, executionId)
      if (refusal) {
        await dispatch.recordSkipped(tx, fact, request, refusal)
        return
      }
      const { row } = await dispatch.enqueue(tx, fact, request)
      await events.append(tx, startedEvent(row, schedule), clock.now())
    })
    return { outcome: 'fired', executionId, message }
  }

  /** A run that has the id already; throws `conflict` when it is another schedule's. */
  async function replayOf(schedule: Schedule, executionId: string): Promise<Fired | null> {
    const row = await executionStore(db).byId(executionId)
    if (!row) return null
    if (row.schedule_id !== schedule.id)
      throw new Fault('conflict', 'The execution id belongs to another run.')
    return { outcome: 'fired', executionId, message: row.message, isReplay: true }
  }

  /**
   * Fires a schedule. By the clock: every gate leaves its record, and a due time that was decided before is
   * answered as it was then. By hand or webhook: throws `agent_not_running`, `queue_full`, `circuit_open`,
   * `scheduler_unavailable`, `scheduler_timeout`; then nothing was kept.
   */
  return async function fire(schedule: Schedule, asked: FireAsked): Promise<Fired> {
    const { executionId = newId(), dueAt } = asked
    const replay = asked.executionId === undefined ? null : await replayOf(schedule, asked.executionId)
    if (replay) return replay
    if (asked.cause !== 'clock') return byHand(schedule, asked)
    if (dueAt === undefined) throw new Error('A fire of the clock needs its due time.')
    const key = { schedule_id: schedule.id, due_at: dueAt, agent_id: schedule.agent_id }
    // Read together: on SQLite each look may wait for a transaction to end.
    const [known, isActive] = await Promise.all([
      fireStore(db).find(key),
      scheduleRunStore(db).isActive(schedule.id, ''),
    ])
    const isCatchUp = known?.is_catch_up === 1
    const due = { schedule, key, executionId, isCatchUp, isPreviousActive: isActive && !isCatchUp }
    return (known && decidedFire(known)) ?? byClock(due)
  }
}
