import type { ExecutionSummary } from '@roost/contracts/runs/executions'
import {
  type AgentRunStats,
  type ExecutionNeighbours,
  type ExecutionTrace,
  type FleetErrors,
  type FleetSlots,
  type FleetStats,
  type Timeline,
  timelineGroups,
} from '@roost/contracts/runs/fleet-executions'
import type { AgentAccess } from '../../agents/access/index.ts'
import type { ScheduleCounts } from '../../agents/health/index.ts'
import type { Agent } from '../../agents/records/index.ts'
import type { SignedIn } from '../../identity/access/caller.ts'
import type { Clock } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import type { Db } from '../../ports/database/port.ts'
import type { Breakers } from '../breaker/index.ts'
import {
  errorFilter,
  messageReader,
  modelCallStore,
  offered,
  statusFilter,
  summaryOf,
  triggerFilter,
} from '../executions/index.ts'
import {
  boundsFilter,
  bucketLabel,
  bucketNames,
  endOf,
  fillBuckets,
  fleetStats,
  hoursOf,
  nothingLive,
  nothingRan,
  sinceOf,
  spanOf,
  startsWithFirstRun,
  taggedAgents,
  weekStats,
  windowStats,
} from './rules.ts'
import { createScope, type Scope } from './scope.ts'
import { fleetStore, type RunFilter } from './store.ts'

/** `hours` is ignored with a start or an end. */
export type Window = {
  hours: number
  agent?: string | undefined
  start_time?: string | undefined
  end_time?: string | undefined
  model?: string | undefined
  person?: string | undefined
  tag?: string | undefined
  error?: string | undefined
  cost?: string | undefined
  tokens?: string | undefined
  duration?: string | undefined
}
export type RunFilters = Window & {
  status?: string | undefined
  triggered_by?: string | undefined
  search?: string | undefined
}
export type FleetQuery = RunFilters & { limit: number; offset: number }

/** Every method throws `unknown_filter` with the valid values, agent names included. */
export type FleetExecutions = {
  /** Newest first, with the total number of matches. */
  list(caller: SignedIn, query: FleetQuery): Promise<{ rows: ExecutionSummary[]; total: number }>
  stats(caller: SignedIn, window: Window): Promise<FleetStats>
  /** The failed runs by error code. */
  errors(caller: SignedIn, query: Omit<RunFilters, 'status'>): Promise<FleetErrors>
  timeline(caller: SignedIn, query: Window & { group_by?: string | undefined }): Promise<Timeline>
  byAgent(
    caller: SignedIn,
    query: { hours: number; include_7d: boolean },
  ): Promise<{ agents: AgentRunStats[] }>
  slots(caller: SignedIn): Promise<FleetSlots>
  /** Throws `execution_not_found` for a run that lists do not show to the caller; `neighbours` too. */
  trace(caller: SignedIn, id: string): Promise<ExecutionTrace>
  neighbours(caller: SignedIn, id: string, query: RunFilters): Promise<ExecutionNeighbours>
}

export type FleetExecutionsDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  agentAccess: Pick<AgentAccess, 'accessibleAgents'>
  /** See `createScope`. */
  hiddenAgents(): Promise<readonly string[]>
  effectiveParallel(agent: Agent): Promise<number>
  /** Agents without schedules are omitted. */
  scheduleCounts(agentIds: string[]): Promise<ReadonlyMap<string, ScheduleCounts>>
  breakers: Pick<Breakers, 'dispatchStates'>
  /** The id of the account with this address or user name, in lower case; null without one. */
  accountIdOf(login: string): Promise<string | null>
}

const weekHours = 168

export function createFleetExecutions({
  db,
  clock,
  agentAccess,
  ...deps
}: FleetExecutionsDeps): FleetExecutions {
  const store = fleetStore(db)

  const { scopeOf, narrowed } = createScope({ ...deps, agentAccess, store })

  /** The ids of a person that a filter names by id, address or user name. Runs of guests have the address as id. */
  async function personFilter(text: string | undefined): Promise<string[] | undefined> {
    if (text === undefined) return undefined
    if (text === '') return []
    const login = text.toLowerCase()
    const account = await deps.accountIdOf(login)
    if (account !== null) return [account]
    return login.includes('@') ? [`email:${login}`] : [text]
  }

  async function filterOf(window: Window, { visible, accessible }: Scope, now: Date) {
    const { model, tag } = window
    return {
      visible,
      ...spanOf(window, now),
      model,
      person: await personFilter(window.person),
      agents: tag === undefined ? undefined : taggedAgents(accessible, tag),
      error: errorFilter(window.error),
      cost: boundsFilter('cost', window.cost),
      tokens: boundsFilter('tokens', window.tokens),
      duration: boundsFilter('duration', window.duration),
    }
  }

  /** The filter of a list, whose messages are searched too. */
  async function listFilter(caller: SignedIn, query: RunFilters): Promise<RunFilter> {
    const status = statusFilter(query.status)
    const triggeredBy = triggerFilter(query.triggered_by)
    const scope = await narrowed(caller, query.agent)
    const search = query.search ? { text: query.search, reader: messageReader(caller) } : undefined
    return { ...(await filterOf(query, scope, clock.now())), status, triggeredBy, search }
  }

  async function visibleRun(caller: SignedIn, id: string) {
    const { visible } = await scopeOf(caller)
    const row = await store.one(visible, id)
    if (!row) throw new Fault('execution_not_found')
    return { row, visible }
  }

  return {
    async list(caller, query) {
      const filter = await listFilter(caller, query)
      const { rows, total } = await (filter.search ? store.search : store.list)(filter, query)
      return { rows: rows.map((row) => summaryOf(row, caller)), total }
    },

    async stats(caller, window) {
      const scope = await narrowed(caller, window.agent)
      const { inWindow, live } = await store.statsOf(await filterOf(window, scope, clock.now()))
      return fleetStats(inWindow, live, hoursOf(window))
    },

    async errors(caller, query) {
      return { hours: hoursOf(query), groups: await store.errors(await listFilter(caller, query)) }
    },

    async timeline(caller, { group_by, ...window }) {
      const hours = hoursOf(window)
      const group = offered('group_by', group_by, timelineGroups) ?? 'hour'
      const scope = await narrowed(caller, window.agent)
      const { accessible } = scope
      const now = clock.now()
      const filter = await filterOf(window, scope, now)
      const counted = await store.buckets(filter, group)
      if (group === 'agent') {
        const names = new Map(accessible.map((each) => [each.agent.id, each.agent.name]))
        const isUnknown = counted.some(({ bucket }) => !names.has(bucket))
        const deleted = isUnknown ? await store.deletedAgents() : new Map<string, string>()
        const nameOf = (id: string) => names.get(id) ?? `${deleted.get(id) ?? id} (deleted)`
        const named = counted.map((row) => ({ ...row, bucket: nameOf(row.bucket) }))
        return { group_by: group, hours, buckets: fillBuckets([...names.values()].sort(), named) }
      }
      const to = endOf(filter, now)
      const from = startsWithFirstRun(filter.since, to) ? await store.firstCreated(filter) : filter.since
      const buckets = fillBuckets(
        bucketNames(group, { from: from === null ? null : new Date(from), to }),
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

    async trace(caller, id) {
      const { visible } = await visibleRun(caller, id)
      const [model_calls, started] = await Promise.all([
        modelCallStore(db).of(id),
        store.startedBy(visible, id),
      ])
      return { model_calls, started_runs: started.map((row) => summaryOf(row, caller)) }
    },

    async neighbours(caller, id, query) {
      const filter = await listFilter(caller, query)
      const { row } = await visibleRun(caller, id)
      const { previous, next } = await store.neighbours(filter, row)
      return { previous: previous && summaryOf(previous, caller), next: next && summaryOf(next, caller) }
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
