import type { PreCheckAnswer } from '@roost/contracts/link/messages'
import type { Fire, SchedulerStatus } from '@roost/contracts/triggers/firing'
import type { LastFire } from '@roost/contracts/triggers/schedules'
import type { RestoreService } from '../../agents/history/index.ts'
import type { AgentHooks } from '../../agents/management/index.ts'
import type { Agent } from '../../agents/records/index.ts'
import type { Loop } from '../../background/loops.ts'
import type { Alerts } from '../../foundation/alerts/index.ts'
import { type Clock, secondsLater, timestamp } from '../../kit/clock.ts'
import type { Db } from '../../ports/database/port.ts'
import type { Dispatch } from '../../runs/dispatch/index.ts'
import type { ExecutionRow, RunHooks, Settle } from '../../runs/executions/index.ts'
import { type FireRow, fireStore, type SchedulerState } from '../fires/index.ts'
import type { Schedule, Schedules } from '../schedules/index.ts'
import type { Fired } from './choice.ts'
import type { Deliver, FireDeps } from './deps.ts'
import { completedEvent } from './events.ts'
import { createFire, type DueRequest, type FireOptions, type FireRequest, type Records } from './fire.ts'
import { createAskPreCheck } from './pre-check.ts'
import { createRetries } from './retries.ts'
import { createValidation, type Validation, type ValidationDeps } from './validation.ts'

export type FiringDeps = Settle &
  Omit<FireDeps, 'dispatch'> & {
    db: Db
    clock: Clock
    hooks: RunHooks
    registryHooks: Pick<AgentHooks, 'onDeleting'>
    dispatch: Dispatch
    schedules: Pick<Schedules, 'byId' | 'onDeleted'>
    alerts: Pick<Alerts, 'raise'>
    undoFailed: RestoreService['undoFailed']
    principalFor: ValidationDeps['principalFor']
    deliver: Deliver
  }

export type Firing = {
  /** Fires a schedule; see `createFire`. */
  fire(schedule: Schedule, options: FireOptions): Promise<Fired>
  /** Fires schedules; `records` is the result of `recordsOf`. The results have the order of the requests. */
  fireAll(requests: readonly FireRequest[], records?: Records): Promise<PromiseSettledResult<Fired>[]>
  recordsOf(requests: readonly FireRequest[]): Promise<Records>
  /** Does the work of fires that will be due in a moment, without asking agents or storing anything. */
  rehearse(requests: readonly DueRequest[]): Promise<void>
  validate: Validation['begin']
  askPreCheck(agent: Agent): Promise<PreCheckAnswer>
  /** The outcome of the newest due time of each schedule; schedules without one are omitted. */
  lastFires(scheduleIds: readonly string[]): Promise<Map<string, LastFire>>
  /** Newest first. */
  fires(scheduleId: string, limit: number): Promise<Fire[]>
  schedulerStatus(): Promise<SchedulerStatus>
  loops: Loop[]
  /** Resolves when all follow-ups of ended runs are done. */
  settled(): Promise<void>
}

/** Longer than the interval at which the leading scheduler stores its state. */
const aliveSeconds = 30

export function createFiring(deps: FiringDeps): Firing {
  const { db, clock, events, hooks, schedules } = deps
  const store = fireStore(db)
  const retries = createRetries(deps)
  const validation = createValidation(deps)

  schedules.onDeleted((tx, { id }) => retries.cancel(tx, id))
  deps.registryHooks.onDeleting((tx, { agent }) => fireStore(tx).removeAgent(agent.id))
  hooks.onEnded(async (tx, row, now) => {
    if (row.schedule_id === null) return
    if (row.triggered_by === 'validation') return validation.ended(tx, row, now)
    const schedule = await schedules.byId(row.schedule_id, tx)
    if (!schedule) return
    await events.append(tx, completedEvent(row, schedule), now)
    if (row.status === 'failed' && schedule.undo_failed === 1)
      await deps.undoFailed(tx, { agentId: row.agent_id, executionId: row.id, isRequested: true })
    const isRetried = row.status === 'failed' && (await retries.plan(tx, row, schedule, now))
    if (row.status === 'success') await validation.mark(tx, row, schedule)
    const email = schedule.deliver_to_workspace_email
    if (email !== null && !isRetried && isDelivered(row)) await deps.deliver(tx, { row, schedule, email })
  })

  return {
    ...createFire(deps),
    validate: validation.begin,
    askPreCheck: createAskPreCheck(deps),
    settled: validation.settled,

    async lastFires(scheduleIds) {
      const rows = await store.last(scheduleIds)
      return new Map(
        rows.flatMap(({ schedule_id, due_at, outcome, reason }) =>
          outcome === null ? [] : [[schedule_id, { due_at, outcome, reason }] as const],
        ),
      )
    },

    fires: async (scheduleId, limit) => (await store.list(scheduleId, limit)).flatMap(describe),
    schedulerStatus: async () => statusOf(await store.state(), clock.now()),

    loops: [
      { name: 'schedules.retries', everySeconds: 5, run: (signal) => retries.pass(signal) },
      { name: 'schedules.validations', everySeconds: 30, run: (signal) => validation.pass(signal) },
    ],
  }
}

/** Cancelled runs have no output for the recipient. */
function isDelivered({ status }: ExecutionRow): boolean {
  return status === 'success' || status === 'failed'
}

function describe({ due_at, outcome, reason, execution_id, recorded_at }: FireRow): Fire[] {
  return outcome === null ? [] : [{ due_at, outcome, reason, execution_id, recorded_at }]
}

function statusOf(state: SchedulerState | null, now: Date): SchedulerStatus {
  const isRunning = state !== null && state.checked_at >= timestamp(secondsLater(now, -aliveSeconds))
  const since = state ? Date.parse(state.leads_since) : 0
  return {
    running: isRunning,
    leader: isRunning ? state.leader : null,
    jobs_count: state?.jobs_count ?? 0,
    next_due_at: isRunning ? state.next_due_at : null,
    uptime_seconds: isRunning ? Math.max(0, Math.round((now.getTime() - since) / 1000)) : null,
    last_check_at: state?.checked_at ?? null,
  }
}
