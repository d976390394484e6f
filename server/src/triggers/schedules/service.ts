import type { ExecutionSummary } from '@roost/contracts/runs/executions'
import type { Schedule as Described, LastFire } from '@roost/contracts/triggers/schedules'
import type { ResolvedAgent } from '../../agents/access/index.ts'
import type { AgentHooks } from '../../agents/management/index.ts'
import type { AgentRecords } from '../../agents/records/index.ts'
import type { Outbox } from '../../foundation/outbox/index.ts'
import type { Caller, SignedIn } from '../../identity/access/index.ts'
import type { Clock } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import type { Db, Executor, Tx } from '../../ports/database/port.ts'
import { seesOwnRunsOnly, summaryOf } from '../../runs/executions/index.ts'
import { createScheduleTimes } from '../schedule-times/index.ts'
import { createScheduleAdmin, type ScheduleAdmin } from './admin.ts'
import { registerAgentHooks } from './agent-hooks.ts'
import { type Analytics, createScheduleAnalytics } from './analytics.ts'
import { type Changes, createChanges, type Deleted, type Owned } from './change.ts'
import { scheduleCountStore } from './counts.ts'
import { createDescribe, type Describe } from './describe.ts'
import { runStore } from './runs-store.ts'
import { type Schedule, scheduleStore } from './store.ts'

export type SchedulesDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  events: Pick<Outbox, 'append'>
  agentRecords: Pick<AgentRecords, 'all' | 'byName'>
  agentAccess(caller: Caller, agentName: string): Promise<ResolvedAgent | null>
  hooks: Pick<AgentHooks, 'onCreated' | 'onDeleting'>
  /** Days that deleted schedules are kept. */
  retentionDays(): number
  /** What became of the newest due time of each; those without any are left out. */
  lastFires(scheduleIds: readonly string[]): Promise<ReadonlyMap<string, LastFire>>
}

export type Schedules = Changes &
  Analytics & {
    admin: ScheduleAdmin
    describe: Describe
    /** Null: unknown or deleted. */
    byId(id: string, on?: Executor): Promise<Schedule | null>
    /** Unknown and deleted ones are left out. */
    byIds(ids: readonly string[]): Promise<Schedule[]>
    /** The newest position: it goes up with every change of any schedule. */
    position(): Promise<number>
    /** In the order of their positions, deleted ones too: whoever follows has to forget them. */
    changesAfter(position: number, limit: number): Promise<Schedule[]>
    /** Newest first. */
    list(agent: Owned): Promise<Described[]>
    /** Throws `schedule_not_found`, also for schedules of other agents. */
    find(agent: Owned, id: string): Promise<Schedule>
    /** The agent for whom this caller may make schedules. Throws `agent_not_found`, `agent_access_denied`. */
    agentFor(caller: SignedIn, name: string): Promise<ResolvedAgent>
    executions(
      agent: Owned,
      reader: Pick<ResolvedAgent, 'relation'> & { caller: SignedIn },
      id: string,
      page: { limit: number; offset: number },
    ): Promise<{ rows: ExecutionSummary[]; total: number }>
    /** The next `count` due times, whether it is enabled or not. */
    upcoming(schedule: Schedule, count: number): Date[]
    /** Calls `act` in the transaction that deletes a schedule; by itself or with its agent. */
    onDeleted(act: Deleted): void
    /** How many each agent has; agents without any are left out. */
    scheduleCounts(): Promise<Map<string, { total: number; enabled: number }>>
    schedulesOf(agentId: string): Promise<{ id: string; name: string; enabled: boolean }[]>
    /** Active ones whose own timeout is above `seconds`; none is changed until the transaction ends. */
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

  async function find(agent: Owned, id: string): Promise<Schedule> {
    const schedule = await store.byId(id)
    if (schedule?.agent_id !== agent.id) throw new Fault('schedule_not_found')
    return schedule
  }

  return {
    ...createChanges({ ...deps, deleted }),
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
      const reached = await deps.agentAccess(caller, name)
      if (reached && reached.relation !== 'permitted') return reached
      throw new Fault((await deps.agentRecords.byName(name)) ? 'agent_access_denied' : 'agent_not_found')
    },
    async executions(agent, { caller, relation }, id, page) {
      await find(agent, id)
      const ownKey = caller.kind === 'key' && seesOwnRunsOnly(caller, relation) ? caller.key.id : undefined
      const { rows, total } = await runs.page(id, { ...page, keyId: ownKey })
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
