import type { ExecutionSummary } from '@roost/contracts/runs/executions'
import {
  CreateSchedule,
  type Schedule as Described,
  type LastFire,
} from '@roost/contracts/triggers/schedules'
import type { ResolvedAgent } from '../../agents/access/index.ts'
import type { AgentHooks } from '../../agents/management/index.ts'
import type { AgentRecords } from '../../agents/records/index.ts'
import type { Outbox } from '../../foundation/outbox/index.ts'
import {
  accountPrincipal,
  agentPrincipal,
  type Caller,
  isCallOnly,
  type SignedIn,
} from '../../identity/access/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import { newId } from '../../kit/ids.ts'
import { createScheduleTimes } from '../../kit/schedule-times.ts'
import type { Db, Executor, Tx } from '../../ports/database/port.ts'
import { seesOwnRunsOnly, summaryOf } from '../../runs/executions/index.ts'
import { createScheduleAdmin, type ScheduleAdmin } from './admin.ts'
import { type Analytics, createScheduleAnalytics } from './analytics.ts'
import { type Changes, columnsOf, createChanges, type Deleted, newTimes, type Owned } from './change.ts'
import { createDescribe, type Describe } from './describe.ts'
import { type Restore, restore } from './restore.ts'
import { runStore } from './runs-store.ts'
import { type Schedule, scheduleCountStore, scheduleStore } from './store.ts'

export type SchedulesDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  events: Pick<Outbox, 'append'>
  agentRecords: Pick<AgentRecords, 'all' | 'byName'>
  agentAccess(caller: Caller, agentName: string): Promise<ResolvedAgent | null>
  hooks: Pick<AgentHooks, 'onCreated' | 'onForked' | 'onDeleting' | 'onAccessEnded'>
  /** Days until a deleted schedule is purged. */
  retentionDays(): number
  /** The outcome of the newest due time of each schedule; schedules without one are omitted. */
  lastFires(scheduleIds: readonly string[]): Promise<ReadonlyMap<string, LastFire>>
}

export type Schedules = Omit<Changes, 'accessEnded'> &
  Analytics &
  Restore & {
    admin: ScheduleAdmin
    describe: Describe
    /** Null if unknown or deleted. */
    byId(id: string, on?: Executor): Promise<Schedule | null>
    /** Unknown and deleted schedules are omitted. */
    byIds(ids: readonly string[]): Promise<Schedule[]>
    /** The newest position; every change of any schedule increases it. */
    position(): Promise<number>
    /** In order of position, with deleted schedules, which followers must remove. */
    changesAfter(position: number, limit: number): Promise<Schedule[]>
    /** Newest first. */
    list(agent: Owned): Promise<Described[]>
    /** Throws `schedule_not_found`, also for schedules of other agents. */
    find(agent: Owned, id: string): Promise<Schedule>
    /** The agent for which this caller may create schedules. Throws `agent_not_found`, `agent_access_denied`. */
    agentFor(caller: SignedIn, name: string): Promise<ResolvedAgent>
    executions(
      agent: Owned,
      reader: Pick<ResolvedAgent, 'relation'> & { caller: SignedIn },
      id: string,
      page: { limit: number; offset: number; include?: 'validations' | undefined },
    ): Promise<{ rows: ExecutionSummary[]; total: number }>
    /** The next `count` due times, also of a disabled schedule. */
    upcoming(schedule: Schedule, count: number): Date[]
    /** Calls `act` in the transaction that deletes a schedule, alone or with its agent. */
    onDeleted(act: Deleted): void
    /** Schedules per agent; agents without schedules are omitted. */
    scheduleCounts(): Promise<Map<string, { total: number; enabled: number }>>
    schedulesOf(agentId: string): Promise<{ id: string; name: string; enabled: boolean }[]>
    /** Active schedules with a timeout above `seconds`. Locks changes of schedules until the transaction ends. */
    schedulesAbove(
      tx: Tx,
      agentId: string,
      seconds: number,
    ): Promise<{ id: string; name: string; timeout_seconds: number }[]>
    schedulesCount(): Promise<number>
  }

export function createSchedules(deps: SchedulesDeps): Schedules {
  const { db, clock } = deps
  const store = scheduleStore(db)
  const runs = runStore(db)
  const counts = scheduleCountStore(db)
  const times = createScheduleTimes()
  const describe = createDescribe({ ...deps, times, runs })
  const onDeleted: Deleted[] = []
  const deleted: Deleted = async (tx, schedule, now) => {
    for (const act of onDeleted) await act(tx, schedule, now)
  }
  registerAgentHooks(deps.hooks, deleted)
  const { accessEnded, ...changes } = createChanges({ ...deps, deleted })
  deps.hooks.onAccessEnded(accessEnded)

  async function find(agent: Owned, id: string): Promise<Schedule> {
    const schedule = await store.byId(id)
    if (schedule?.agent_id !== agent.id) throw new Fault('schedule_not_found')
    return schedule
  }

  return {
    ...changes,
    ...restore,
    ...createScheduleAnalytics({ clock, store, runs }),
    admin: createScheduleAdmin({ ...deps, runs, describe }),
    describe,
    find,
    byId: (id, on = db) => scheduleStore(on).byId(id),
    byIds: store.byIds,
    position: store.position,
    changesAfter: store.changesAfter,
    list: async (agent) => describe(await store.ofAgent(agent.id), () => agent.name),
    async agentFor(caller, name) {
      const target = await deps.agentAccess(caller, name)
      if (target && !isCallOnly(target.relation)) return target
      throw new Fault((await deps.agentRecords.byName(name)) ? 'agent_access_denied' : 'agent_not_found')
    },
    async executions(agent, { caller, relation }, id, page) {
      await find(agent, id)
      const ownKey = caller.kind === 'key' && seesOwnRunsOnly(caller, relation) ? caller.key.id : undefined
      const { rows, total } = await runs.page(id, {
        ...page,
        withValidations: page.include === 'validations',
        keyId: ownKey,
      })
      return { rows: rows.map((row) => summaryOf(row, caller)), total }
    },
    upcoming: (schedule, count) => times.upcoming(schedule, clock.now(), count),
    onDeleted: (act) => void onDeleted.push(act),
    scheduleCounts: counts.counts,
    async schedulesAbove(tx, agentId, seconds) {
      await scheduleStore(tx).lockChanges()
      return scheduleCountStore(tx).above(agentId, seconds)
    },
    schedulesCount: counts.total,
    async schedulesOf(agentId) {
      const rows = await store.ofAgent(agentId)
      return rows.map(({ id, name, enabled }) => ({ id, name, enabled: enabled === 1 }))
    },
  }
}

/** Creates the schedules of an agent's template with the agent, copies them to forks, and deletes them with it. */
function registerAgentHooks(
  hooks: Pick<AgentHooks, 'onCreated' | 'onForked' | 'onDeleting'>,
  deleted: Deleted,
): void {
  hooks.onCreated(async (tx, { agent, ownerId, schedules, now }) => {
    const store = scheduleStore(tx)
    for (const { cron, ...entry } of schedules) {
      // Other fields take the defaults of a request.
      const fields = CreateSchedule.parse({ ...entry, cron_expression: cron })
      await store.insert({
        ...columnsOf(fields),
        id: newId(),
        agent_id: agent.id,
        model: null,
        deliver_to_workspace_email: null,
        created_by: agent.owner,
        created_by_id: ownerId,
        principal: accountPrincipal(ownerId),
        validation_principal: null,
        ...newTimes(timestamp(now)),
      })
    }
    return { schedules_created: schedules.length }
  })

  hooks.onForked(async (tx, { source, fork, by, withSchedules, now }) => {
    if (!withSchedules) return {}
    const store = scheduleStore(tx)
    const all = await store.ofAgent(source.id)
    const copied = (principal: string) =>
      principal === agentPrincipal(source.id, null) ? agentPrincipal(fork.id, null) : principal
    for (const { number: _, position: __, webhook_token_hash: ___, ...schedule } of all.reverse())
      await store.insert({
        ...schedule,
        id: newId(),
        agent_id: fork.id,
        // Two agents must not do the same work without a person's decision.
        enabled: 0,
        deliver_to_workspace_email: null,
        created_by: by.user.username,
        // The name of another creator gets into no prompt.
        created_by_id: schedule.created_by_id === by.user.id ? by.user.id : null,
        // The authors stay the same: a copy gives their words no other rights.
        principal: copied(schedule.principal),
        validation_principal: schedule.validation_principal && copied(schedule.validation_principal),
        ...newTimes(timestamp(now)),
        disabled_reason: schedule.principal === accountPrincipal(by.user.id) ? null : writtenByAnother,
      })
    return { schedules_created: all.length }
  })

  hooks.onDeleting(async (tx, { agent, now }) => {
    const store = scheduleStore(tx)
    // Waits for schedules that are being created; later ones find no agent.
    await store.lockChanges()
    for (const { id } of await store.ofAgent(agent.id)) {
      const removed = await store.remove(id, timestamp(now))
      if (removed) await deleted(tx, removed, now)
    }
  })
}

const writtenByAnother =
  'Another person wrote its message, and it runs for that person. Write a message of your own to run it for you.'
