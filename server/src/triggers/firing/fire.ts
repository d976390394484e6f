import type { Agent, Directory } from '../../agents/directory/index.ts'
import type { Outbox } from '../../foundation/outbox/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { Fault, isFault } from '../../kit/fault.ts'
import { newId } from '../../kit/ids.ts'
import type { AgentLink } from '../../ports/agent-link/port.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import type { AgentFact, Dispatch, NotRun, RunRequest, Source } from '../../runs/dispatch/index.ts'
import { executionStore } from '../../runs/executions/index.ts'
import type { Schedule, ScheduleTimes } from '../schedules/index.ts'
import { skippedEvent, startedEvent } from './events.ts'
import { createGroup } from './group.ts'
import { withContext } from './message.ts'
import type { FrozenAfter, ReachesAgent } from './ports.ts'
import { createPreCheck } from './pre-check.ts'
import { closedGate, type Gate, readPreCheck, skipped, suppressed } from './rules.ts'
import { scheduleRunStore } from './run-store.ts'
import { type FireRow, fireStore } from './store.ts'
import { createWithin } from './within.ts'

export type FireDeps = {
  db: Db
  clock: Pick<Clock, 'now' | 'wait'>
  log: Log
  events: Pick<Outbox, 'append'>
  link: Pick<AgentLink, 'call' | 'isConnected'>
  directory: Pick<Directory, 'byId'>
  factOf(agentId: string): Promise<AgentFact | null>
  dispatch: Pick<Dispatch, 'admit' | 'transaction' | 'acceptIn' | 'recordIn'>
  times: Pick<ScheduleTimes, 'next'>
  frozenAfter: FrozenAfter
  reachesAgent: ReachesAgent
}

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

export type Fired =
  | { outcome: 'fired'; executionId: string; message: string; isReplay?: true }
  | { outcome: 'skipped' | 'suppressed' | 'missed'; reason: string; executionId?: string }

const nobody: Source = { userId: null, userEmail: null, agent: null, key: null }

/** The transaction is given up: another one has decided, or a gate has closed meanwhile. */
class GivenUp extends Error {
  readonly gate: Gate | null
  constructor(gate: Gate | null) {
    super('The fire was given up.')
    this.gate = gate
  }
}

/** A fire of the clock on its way through the gates. */
type Due = {
  schedule: Schedule
  key: { schedule_id: string; due_at: string; agent_id: string }
  executionId: string
  isCatchUp: boolean
  isPreviousActive: boolean
}

export function createFire(deps: FireDeps) {
  const { db, clock, events, directory, dispatch, factOf } = deps
  const preCheck = createPreCheck(deps)
  const within = createWithin(deps)
  const group = createGroup(db)

  function nextRunAt(schedule: Schedule): string | null {
    const next = deps.times.next(schedule, clock.now())
    return next && timestamp(next)
  }

  function requestOf(
    schedule: Schedule,
    {
      executionId,
      message,
      trigger,
      by = null,
      metadata = null,
    }: {
      executionId: string
      message: string
      trigger: RunRequest['triggeredBy']
      by?: Source | null
      metadata?: Record<string, unknown> | null | undefined
    },
  ): RunRequest {
    return {
      executionId,
      agentId: schedule.agent_id,
      kind: 'task',
      triggeredBy: trigger,
      message,
      source: by ?? nobody,
      model: schedule.model,
      timeoutSeconds: schedule.timeout_seconds,
      // Written by the feature that owns schedules.
      allowedTools: schedule.allowed_tools === null ? null : (JSON.parse(schedule.allowed_tools) as string[]),
      links: { scheduleId: schedule.id },
      schedule: { name: schedule.name, nextRunAt: nextRunAt(schedule) },
      metadata,
    }
  }

  async function recipientRefusal(schedule: Schedule, agent: Agent): Promise<NotRun | null> {
    const email = schedule.deliver_to_workspace_email
    if (email === null || (await deps.reachesAgent(agent, email))) return null
    return {
      status: 'failed',
      error: `The recipient of the output, ${email}, cannot reach the agent.`,
      error_code: 'recipient_unreachable',
    }
  }

  async function byClock(due: Due): Promise<Fired> {
    const { schedule } = due
    const [agent, fact] = await Promise.all([directory.byId(schedule.agent_id), factOf(schedule.agent_id)])
    if (!agent || !fact) return close(due, null, suppressed('agent_deleted'))
    const gate = closedGate({
      isEnabled: schedule.enabled === 1,
      isRegistrable: nextRunAt(schedule) !== null,
      isAutonomous: agent.autonomy_enabled,
      frozenAfter: await deps.frozenAfter(agent),
      isRunning: fact.status === 'running',
      isPreviousActive: due.isPreviousActive,
    })
    if (gate) return close(due, fact, gate)
    const asked = readPreCheck(await preCheck(agent.id))
    if (asked === 'empty') return close(due, fact, skipped('pre_check_empty'))
    const message = asked?.message ?? schedule.message
    const refusal = await recipientRefusal(schedule, agent)
    try {
      await group(schedule.agent_id, (tx) => make(tx, due, { fact, message, refusal }))
      return { outcome: 'fired', executionId: due.executionId, message }
    } catch (error) {
      // The record of a breaker's refusal is the skipped one, so this is no `dispatch.transaction`.
      if (isFault(error, 'circuit_open')) return close(due, fact, skipped('circuit_open'))
      if (!(error instanceof GivenUp)) throw error
      return error.gate ? close(due, fact, error.gate) : decidedBefore(due.key)
    }
  }

  async function make(
    tx: Tx,
    { schedule, key, executionId, isCatchUp }: Due,
    { fact, message, refusal }: { fact: AgentFact; message: string; refusal: NotRun | null },
  ): Promise<void> {
    const now = clock.now()
    const reason = refusal?.status === 'failed' ? refusal.error_code : null
    const decision = {
      outcome: 'fired',
      reason,
      execution_id: executionId,
      recorded_at: timestamp(now),
    } as const
    if (!(await fireStore(tx).decide(key, decision))) throw new GivenUp(null)
    const request = requestOf(schedule, { executionId, message, trigger: 'schedule' })
    if (refusal) {
      await dispatch.recordIn(tx, fact, request, refusal)
      return
    }
    const { row } = await dispatch.acceptIn(tx, fact, request)
    // Asked again while the agent's queue is held: of two fires of one schedule one sees the other.
    if (!isCatchUp && (await scheduleRunStore(tx).isActive(schedule.id, row.id))) {
      throw new GivenUp(skipped('previous_run_active'))
    }
    await events.append(tx, startedEvent(row, schedule), now)
  }

  async function close(due: Due, fact: AgentFact | null, gate: Gate): Promise<Fired> {
    const { schedule, key, executionId } = due
    const isSkipped = gate.outcome === 'skipped' && fact !== null
    const isMine = await db.atomically(async (tx) => {
      const now = clock.now()
      const decision = {
        outcome: gate.outcome,
        reason: gate.reason,
        execution_id: isSkipped ? executionId : null,
        recorded_at: timestamp(now),
      }
      if (!(await fireStore(tx).decide(key, decision))) return false
      if (!isSkipped) return true
      const request = requestOf(schedule, { executionId, message: schedule.message, trigger: 'schedule' })
      const row = await dispatch.recordIn(tx, fact, request, { status: 'skipped', reason: gate.reason })
      await events.append(tx, skippedEvent(row, schedule, gate.reason), now)
      return true
    })
    if (!isMine) return decidedBefore(key)
    return { ...gate, ...(isSkipped ? { executionId } : {}) }
  }

  async function decidedBefore(key: Due['key']): Promise<Fired> {
    const row = await fireStore(db).find(key)
    const told = row && toldOf(row)
    if (told) return told
    throw new Fault('conflict', 'The fire is being decided.')
  }

  async function byHand(schedule: Schedule, asked: FireAsked): Promise<Fired> {
    const message = withContext(schedule.message, asked.context, newId())
    const executionId = asked.executionId ?? newId()
    const fact = await dispatch.admit(schedule.agent_id)
    const agent = await directory.byId(schedule.agent_id)
    if (!agent) throw new Fault('agent_not_found')
    const refusal = await recipientRefusal(schedule, agent)
    const { metadata, by } = asked
    const trigger = asked.cause === 'webhook' ? 'webhook' : 'manual'
    const request = requestOf(schedule, { executionId, message, trigger, by: by ?? null, metadata })
    await within(dispatch.transaction, async (tx) => {
      await asked.keep?.(tx, executionId)
      if (refusal) {
        await dispatch.recordIn(tx, fact, request, refusal)
        return
      }
      const { row } = await dispatch.acceptIn(tx, fact, request)
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
    return (known && toldOf(known)) ?? byClock(due)
  }
}

/** What was decided; null while nothing is. */
function toldOf({ outcome, reason, execution_id }: FireRow): Fired | null {
  if (outcome === null) return null
  if (outcome === 'fired') {
    return { outcome, executionId: execution_id ?? '', message: '', isReplay: true }
  }
  return { outcome, reason: reason ?? '', ...(execution_id === null ? {} : { executionId: execution_id }) }
}
