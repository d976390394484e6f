import type { ExecutionSummary } from '@roost/contracts/runs/executions'
import {
  type AgentRunStats,
  type FleetSlots,
  type FleetStats,
  type Timeline,
  timelineGroups,
} from '@roost/contracts/runs/fleet-executions'
import type { AgentAccess, ResolvedAgent } from '../../agents/access/index.ts'
import type { ScheduleCounts } from '../../agents/health/index.ts'
import type { Agent } from '../../agents/records/index.ts'
import type { SignedIn } from '../../identity/access/caller.ts'
import type { Clock } from '../../kit/clock.ts'
import type { Db } from '../../ports/database/port.ts'
import type { Breakers } from '../breaker/index.ts'
import {
  isAdmin,
  messageReader,
  offered,
  seesOwnRunsOnly,
  statusFilter,
  summaryOf,
  triggerFilter,
  unknownFilter,
} from '../executions/index.ts'
import {
  bucketLabel,
  bucketNames,
  fillBuckets,
  fleetStats,
  nothingLive,
  nothingRan,
  sinceOf,
  type Visible,
  visibleTo,
  weekStats,
  windowStats,
} from './rules.ts'
import { fleetStore } from './store.ts'

export type Window = { hours: number; agent?: string | undefined }
export type FleetQuery = Window & {
  status?: string | undefined
  triggered_by?: string | undefined
  search?: string | undefined
  limit: number
  offset: number
}

/** Every method throws `unknown_filter` with the valid values, agent names included. */
export type FleetExecutions = {
  /** Newest first, with the total number of matches. */
  list(caller: SignedIn, query: FleetQuery): Promise<{ rows: ExecutionSummary[]; total: number }>
  stats(caller: SignedIn, window: Window): Promise<FleetStats>
  timeline(caller: SignedIn, query: Window & { group_by?: string | undefined }): Promise<Timeline>
  byAgent(
    caller: SignedIn,
    query: { hours: number; include_7d: boolean },
  ): Promise<{ agents: AgentRunStats[] }>
  slots(caller: SignedIn): Promise<FleetSlots>
}

export type FleetExecutionsDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  agentAccess: Pick<AgentAccess, 'accessibleAgents'>
  effectiveParallel(agent: Agent): Promise<number>
  /** Agents without schedules are omitted. */
  scheduleCounts(agentIds: string[]): Promise<ReadonlyMap<string, ScheduleCounts>>
  breakers: Pick<Breakers, 'dispatchStates'>
}

const weekHours = 168

export function createFleetExecutions({
  db,
  clock,
  agentAccess,
  ...deps
}: FleetExecutionsDeps): FleetExecutions {
  const store = fleetStore(db)

  async function scopeOf(caller: SignedIn): Promise<{ accessible: ResolvedAgent[]; visible: Visible }> {
    const accessible = await agentAccess.accessibleAgents(caller)
    const visible = visibleTo({
      isAdmin: isAdmin(caller),
      keyId: caller.kind === 'key' ? caller.key.id : null,
      agents: accessible.map(({ agent, relation }) => ({
        id: agent.id,
        ownRunsOnly: seesOwnRunsOnly(caller, relation),
      })),
    })
    return { accessible, visible }
  }

  /** Limits the scope to one agent; admins may name a deleted one. An existing agent takes precedence. */
  async function narrowed(caller: SignedIn, name: string | undefined) {
    const scope = await scopeOf(caller)
    if (name === undefined) return scope
    const accessible = scope.accessible.filter(({ agent }) => agent.name === name)
    const [found] = accessible
    if (found) {
      const visible = visibleTo({
        isAdmin: false,
        keyId: caller.kind === 'key' ? caller.key.id : null,
        agents: [{ id: found.agent.id, ownRunsOnly: seesOwnRunsOnly(caller, found.relation) }],
      })
      return { accessible, visible }
    }
    const deleted = isAdmin(caller) ? await store.deletedAgents(name) : null
    if (!deleted?.size) {
      const names = scope.accessible.map(({ agent }) => agent.name)
      throw unknownFilter('agent', name, names)
    }
    return { accessible: [], visible: { agentIds: [...deleted.keys()], own: null } }
  }

  return {
    async list(caller, query) {
      const status = statusFilter(query.status)
      const triggeredBy = triggerFilter(query.triggered_by)
      const { visible } = await narrowed(caller, query.agent)
      const since = sinceOf(query.hours, clock.now())
      const search = query.search ? { text: query.search, reader: messageReader(caller) } : undefined
      const filter = { visible, since, status, triggeredBy, search }
      const { rows, total } = await (search ? store.search : store.list)(filter, query)
      return { rows: rows.map((row) => summaryOf(row, caller)), total }
    },

    async stats(caller, { agent, hours }) {
      const { visible } = await narrowed(caller, agent)
      const { inWindow, live } = await store.statsOf({ visible, since: sinceOf(hours, clock.now()) })
      return fleetStats(inWindow, live, hours)
    },

    async timeline(caller, { agent, hours, group_by }) {
      const group = offered('group_by', group_by, timelineGroups) ?? 'hour'
      const { visible, accessible } = await narrowed(caller, agent)
      const now = clock.now()
      const filter = { visible, since: sinceOf(hours, now) }
      const counted = await store.buckets(filter, group)
      if (group === 'agent') {
        const names = new Map(accessible.map((each) => [each.agent.id, each.agent.name]))
        const isUnknown = counted.some(({ bucket }) => !names.has(bucket))
        const deleted = isUnknown ? await store.deletedAgents() : new Map<string, string>()
        const nameOf = (id: string) => names.get(id) ?? `${deleted.get(id) ?? id} (deleted)`
        const named = counted.map((row) => ({ ...row, bucket: nameOf(row.bucket) }))
        return { group_by: group, hours, buckets: fillBuckets([...names.values()].sort(), named) }
      }
      const from = filter.since ?? (await store.firstCreated(filter))
      const buckets = fillBuckets(
        bucketNames(group, { from: from === null ? null : new Date(from), to: now }),
        counted,
      )
      return {
        group_by: group,
        hours,
        buckets: buckets.map((each) => ({ ...each, bucket: bucketLabel(group, each.bucket) })),
      }
    },

    async byAgent(caller, { hours, include_7d }) {
      const { accessible, visible } = await scopeOf(caller)
      const now = clock.now()
      const [window, week, live, last, schedules] = await Promise.all([
        store.totalsByAgent({ visible, since: sinceOf(hours, now) }),
        include_7d ? store.totalsByAgent({ visible, since: sinceOf(weekHours, now) }) : null,
        store.live(visible),
        store.lastOf(visible),
        deps.scheduleCounts(accessible.map(({ agent }) => agent.id)),
      ])
      return {
        agents: accessible.map(({ agent: { id, name } }) => ({
          name,
          ...windowStats(window.get(id) ?? nothingRan),
          running_count: live.get(id)?.running ?? 0,
          queued_count: live.get(id)?.queued ?? 0,
          last_execution_at: last.get(id) ?? null,
          schedules_total: schedules.get(id)?.total ?? 0,
          schedules_enabled: schedules.get(id)?.enabled ?? 0,
          ...(week ? weekStats(week.get(id) ?? nothingRan) : {}),
        })),
      }
    },

    async slots(caller) {
      const agents = (await agentAccess.accessibleAgents(caller)).map(({ agent }) => agent)
      const ids = agents.map(({ id }) => id)
      const [live, breakers] = await Promise.all([
        store.live({ agentIds: ids, own: null }),
        deps.breakers.dispatchStates(),
      ])
      const slots = await Promise.all(
        agents.map(async (agent) => {
          const { running, waiting } = live.get(agent.id) ?? nothingLive
          return [
            agent.name,
            { max: await deps.effectiveParallel(agent), active: running, queued: waiting },
          ] as const
        }),
      )
      return {
        timestamp: clock.now().toISOString(),
        agents: Object.fromEntries(slots),
        circuit_breakers: Object.fromEntries(
          agents.map(({ id, name }) => [name, breakers.get(id) ?? 'closed'] as const),
        ),
      }
    },
  }
}
