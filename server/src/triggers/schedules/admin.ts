import type { FleetSchedules } from '@roost/contracts/triggers/schedule-admin'
import { scheduleUpdated } from '@roost/contracts/triggers/schedules'
import { type Agent, type AgentRecords, agentStore } from '../../agents/records/index.ts'
import type { Outbox } from '../../foundation/outbox/index.ts'
import type { SignedIn } from '../../identity/access/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import type { Db } from '../../ports/database/port.ts'
import { summaryOf } from '../../runs/executions/index.ts'
import type { Describe } from './describe.ts'
import { purgeAt } from './retention.ts'
import type { RunStore } from './runs-store.ts'
import { type Schedule, scheduleStore } from './store.ts'

export type DeletedSchedule = {
  id: string
  agent_name: string
  name: string
  deleted_at: string
  purge_at: string
}

export type AdminDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  events: Pick<Outbox, 'append'>
  agentRecords: Pick<AgentRecords, 'all' | 'byName'>
  runs: Pick<RunStore, 'last' | 'byIds'>
  describe: Describe
  retentionDays(): number
}

/** Operations of admins on the schedules of all agents. An unknown agent name throws `agent_not_found`. */
export type ScheduleAdmin = {
  deleted(): Promise<DeletedSchedule[]>
  /** Recovers a schedule as disabled. Throws `schedule_not_found`, also when its agent was deleted. */
  recover(id: string): Promise<{ schedule: Schedule; agentName: string }>
  fleet(
    caller: SignedIn,
    filter: { agentName: string | undefined; enabledOnly: boolean },
  ): Promise<FleetSchedules>
  /** Returns the number of schedules that it disabled. */
  pause(agentName: string | null): Promise<number>
  /** Returns the number of schedules that it enabled. */
  resume(agentName: string | null): Promise<number>
}

export function createScheduleAdmin(deps: AdminDeps): ScheduleAdmin {
  const { db, clock, events, agentRecords, runs, describe } = deps
  const store = scheduleStore(db)

  async function agentNamed(name: string): Promise<Agent> {
    const agent = await agentRecords.byName(name)
    if (!agent) throw new Fault('agent_not_found')
    return agent
  }

  async function namesById(): Promise<Map<string, string>> {
    return new Map((await agentRecords.all()).map(({ id, name }) => [id, name]))
  }

  /** One transaction, so that readers never see a partial pause. */
  async function switchAll(agentName: string | null, enabled: boolean): Promise<number> {
    const agentId = agentName === null ? null : (await agentNamed(agentName)).id
    const names = await namesById()
    return db.atomically(async (tx) => {
      const changes = scheduleStore(tx)
      await changes.lockChanges()
      const all = await changes.all({ agentId, enabledOnly: !enabled })
      const chosen = enabled ? all.filter(({ is_paused }) => is_paused === 1) : all
      const now = clock.now()
      const at = timestamp(now)
      const patch = enabled
        ? { enabled: 1, is_paused: 0, armed_at: at, updated_at: at }
        : { enabled: 0, is_paused: 1, updated_at: at }
      for (const { id, name, agent_id } of chosen) {
        await changes.update(id, patch)
        const fields = { schedule_id: id, schedule_name: name, enabled }
        const about = { agent_names: [names.get(agent_id) ?? ''], agent_ids: [agent_id] }
        await events.append(tx, { type: scheduleUpdated.name, ...about, fields }, now)
      }
      return chosen.length
    })
  }

  return {
    async deleted() {
      const names = await namesById()
      const rows = await store.deleted()
      return rows.flatMap(({ id, agent_id, name, deleted_at }) => {
        const agent_name = names.get(agent_id)
        if (agent_name === undefined || deleted_at === null) return []
        return [{ id, agent_name, name, deleted_at, purge_at: purgeAt(deleted_at, deps.retentionDays()) }]
      })
    },

    recover(id) {
      return db.atomically(async (tx) => {
        const changes = scheduleStore(tx)
        await changes.lockChanges()
        const deleted = await changes.deletedById(id)
        const agent = deleted && (await agentStore(tx).byId(deleted.agent_id))
        if (!deleted || !agent) throw new Fault('schedule_not_found')
        const now = clock.now()
        const cap = agent.execution_timeout_seconds
        const schedule = await changes.recover(id, {
          enabled: 0,
          is_paused: 0,
          timeout_seconds: deleted.timeout_seconds === null ? null : Math.min(deleted.timeout_seconds, cap),
          updated_at: timestamp(now),
        })
        if (!schedule) throw new Fault('schedule_not_found')
        const fields = { schedule_id: id, schedule_name: schedule.name, enabled: false }
        const about = { agent_names: [agent.name], agent_ids: [agent.id] }
        await events.append(tx, { type: scheduleUpdated.name, ...about, fields }, now)
        return { schedule, agentName: agent.name }
      })
    },

    async fleet(caller, { agentName, enabledOnly }) {
      const agentId = agentName === undefined ? null : (await agentNamed(agentName)).id
      const names = await namesById()
      const all = (await store.all({ agentId, enabledOnly: false })).filter(({ agent_id }) =>
        names.has(agent_id),
      )
      const shown = enabledOnly ? all.filter(({ enabled }) => enabled === 1) : all
      const last = await runs.last(shown.map(({ id }) => id))
      const executions = await runs.byIds([...last.values()].map(({ id }) => id))
      const bySchedule = new Map(executions.map((row) => [row.schedule_id, summaryOf(row, caller)]))
      const described = await describe(shown, (id) => names.get(id) ?? '')
      const enabled = all.filter((schedule) => schedule.enabled === 1).length
      return {
        timestamp: timestamp(clock.now()),
        summary: {
          total: all.length,
          enabled,
          disabled: all.length - enabled,
          agents_with_schedules: new Set(all.map(({ agent_id }) => agent_id)).size,
        },
        schedules: described.map((schedule) => ({
          ...schedule,
          last_execution: bySchedule.get(schedule.id) ?? null,
        })),
      }
    },
    pause: (agentName) => switchAll(agentName, false),
    resume: (agentName) => switchAll(agentName, true),
  }
}
