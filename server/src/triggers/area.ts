import type { AgentsArea } from '../agents/area.ts'
import type { Loop } from '../background/loops.ts'
import type { Alerts } from '../foundation/alerts/index.ts'
import type { Audit } from '../foundation/audit/index.ts'
import type { Idempotency, WorkStates } from '../foundation/idempotency/index.ts'
import type { Leases } from '../foundation/leases/index.ts'
import type { Outbox } from '../foundation/outbox/index.ts'
import type { RateLimits } from '../foundation/rate-limits/index.ts'
import type { Settings } from '../foundation/settings/index.ts'
import type { Vault } from '../foundation/vault/index.ts'
import type { Route } from '../http/route.ts'
import type { Users } from '../identity/users/index.ts'
import type { Clock } from '../kit/clock.ts'
import { createScheduleTimes } from '../kit/schedule-times.ts'
import type { Db } from '../ports/database/port.ts'
import type { Log } from '../ports/log.ts'
import type { RunRecords, RunsArea } from '../runs/area.ts'
import { sourceOf } from '../runs/dispatch/index.ts'
import {
  createExecute,
  createFeed,
  createFiring,
  type Deliver,
  type Firing,
  type FiringDeps,
  fireRetention,
  firingRoutes,
  internalFiringRoutes,
  type ReachesAgent,
} from './firing/index.ts'
import { createReminders, type DeliverResult, reminderRetention, reminderRoutes } from './reminders/index.ts'
import {
  createSchedules,
  type FireByHand,
  type Schedules,
  scheduleRetention,
  scheduleRoutes,
} from './schedules/index.ts'
import {
  createSubscriptions,
  eventRetention,
  type Subscriptions,
  subscriptionRoutes,
} from './subscriptions/index.ts'
import { type CallDeps, createCallWebhook, createManageWebhooks, webhookRoutes } from './webhooks/index.ts'

/** The dependencies of the features that start runs without a caller. */
export type TriggersAreaDeps = {
  db: Db
  clock: Clock
  log: Log
  vault: Vault
  limits: RateLimits
  leases: Leases
  audit: Audit
  settings: Settings
  events: Pick<Outbox, 'append' | 'appendAll' | 'signal' | 'on'>
  idempotency: Idempotency
  works: Pick<WorkStates, 'register'>
  users: Pick<Users, 'find' | 'findLogin'>
  agents: AgentsArea
  records: RunRecords
  runs: RunsArea
  /** Delivers the result of a reminder to its conversation. */
  deliverResult: DeliverResult
  /** Delivers the output of a schedule's run to the Workspace chat of its recipient. */
  deliver: Deliver
  fireLateness: FiringDeps['fireLateness']
  reachesAgent: ReachesAgent
  alerts: Alerts
  /** The public address of the platform. */
  baseUrl: string
  /** Webhook calls per minute. */
  webhookRates: CallDeps['rates']
}

export type TriggersArea = {
  routes: Route[]
  /** For processes of the platform on this machine, and for agents. */
  internalRoutes: Route[]
  loops: Loop[]
  schedules: Schedules
  subscriptions: Subscriptions
  firing: Firing
  /** Completes the follow-ups of ended runs; call it before the database closes. */
  close(): Promise<void>
}

/** Wires the features that start runs without a caller. */
export function createTriggersArea(deps: TriggersAreaDeps): TriggersArea {
  const { db, clock, events, agents, settings, records, runs } = deps
  const { agentRecords } = agents
  const schedules = createSchedules({
    db,
    clock,
    events,
    agentRecords,
    agentAccess: agents.agentAccess.resolveAgent,
    hooks: agents.hooks,
    retentionDays: () => settings.value('schedule_soft_delete_retention_days'),
    lastFires: (ids) => firing.lastFires(ids),
  })
  const firing: Firing = createFiring({
    ...deps,
    schedules,
    agentRecords,
    link: records.link,
    hooks: records.hooks,
    registryHooks: agents.hooks,
    runContextOf: agents.runContexts.find,
    principalFor: agents.runContexts.principal,
    dispatch: runs.dispatch,
    settle: records.executions.settle,
    times: createScheduleTimes(),
    undoFailed: agents.history.restores.undoFailed,
    frozenAfter: ({ id }) => agents.git.frozenAfter(id),
    reachesAgent: deps.reachesAgent,
    deliver: deps.deliver,
  })
  const execute = createExecute({
    ...deps,
    schedules,
    firing,
    agentRecords,
    agentAccess: agents.agentAccess,
    dispatch: runs.dispatch,
    executions: records.executions,
  })
  const manage = createManageWebhooks(deps)
  const call = createCallWebhook({
    ...deps,
    agentRecords,
    rates: deps.webhookRates,
    fire: async (schedule, call) =>
      void (await firing.fire(schedule, { cause: 'webhook', by: null, ...call })),
  })
  const fireByHand: FireByHand = async (schedule, caller) => {
    const callingId = caller.kind === 'key' ? caller.key.agent_id : null
    const calling = callingId === null ? null : await agentRecords.byId(callingId)
    const by = sourceOf(caller, calling?.name ?? null)
    const fired = await firing.fire(schedule, { cause: 'manual', by })
    if (fired.outcome !== 'fired') throw new Error(`A fire by hand made no run: ${fired.reason}`)
    return fired
  }

  const shared = { ...deps, agentRecords, dispatch: runs.dispatch, hooks: records.hooks }
  const subscriptions = createSubscriptions({
    ...shared,
    agentAccess: agents.agentAccess,
    secrets: agents.runContexts.secrets,
    agentName: async (id) => (await agentRecords.byId(id))?.name ?? null,
  })
  agents.hooks.onForked(async (tx, { source, fork, by, withSchedules, now }) => {
    if (withSchedules) await subscriptions.copy(tx, { from: source.id, to: fork.id }, by.user, now)
    return {}
  })
  agents.hooks.onDeleting((tx, { agent }) => subscriptions.agentDeleted(tx, agent.id))
  const reminders = createReminders({ ...shared, deliver: deps.deliverResult })
  agents.hooks.onDeleting((tx, { agent }) => reminders.agentDeleted(tx, agent.id))
  agents.hooks.onAccessEnded(reminders.accessEnded)

  return {
    schedules,
    subscriptions,
    firing,
    routes: [
      ...scheduleRoutes(schedules, fireByHand),
      ...firingRoutes({ firing, schedules }),
      ...webhookRoutes({ manage, call }),
      ...subscriptionRoutes(subscriptions),
      ...reminderRoutes(reminders),
    ],
    internalRoutes: internalFiringRoutes({
      firing,
      execute,
      agentRecords,
      changesAfter: createFeed({ schedules, agentRecords, dueReminders: reminders.due }),
    }),
    loops: [
      ...firing.loops,
      fireRetention({ db, clock, log: deps.log }),
      scheduleRetention({
        ...deps,
        retentionDays: () => settings.value('schedule_soft_delete_retention_days'),
      }),
      ...subscriptions.loops,
      eventRetention(deps),
      ...reminders.loops,
      reminderRetention(deps),
    ],
    async close() {
      await firing.settled()
      await subscriptions.settled()
      await reminders.settled()
    },
  }
}
