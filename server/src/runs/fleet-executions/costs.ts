import type { CostGrouping, CostLimit, Costs } from '@roost/contracts/runs/costs'
import type { AgentAccess } from '../../agents/access/index.ts'
import type { SignedIn } from '../../identity/access/caller.ts'
import type { Clock } from '../../kit/clock.ts'
import type { Db } from '../../ports/database/port.ts'
import { isAdmin, seesOwnRunsOnly, summaryOf } from '../executions/index.ts'
import {
  figuresOf,
  forecastOf,
  forecastStarts,
  groupTotals,
  mostUsed,
  type Name,
  periodOf,
  shownKeys,
  spanOfDays,
} from './costs-rules.ts'
import { costStore } from './costs-store.ts'
import { createScope, type Scope } from './scope.ts'
import { fleetStore } from './store.ts'

export type CostQuery = {
  from?: string | undefined
  to?: string | undefined
  agent?: string | undefined
  group_by: CostGrouping
}

export type FleetCosts = {
  /**
   * Throws `unknown_filter` for an agent that the caller cannot access, `validation_error` for an invalid
   * period.
   */
  of(caller: SignedIn, query: CostQuery): Promise<Costs>
}

export type FleetCostsDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  agentAccess: Pick<AgentAccess, 'accessibleAgents'>
  /** See `createScope`. */
  hiddenAgents(): Promise<readonly string[]>
  /** E-mail address or name of an account; null for a deleted one. */
  accountName(userId: string): Promise<string | null>
  dailyCaps(agents: { id: string; name: string }[]): Promise<Omit<CostLimit, 'kind'>[]>
  /** The daily alert limit of the platform; 0 for none. */
  dailyLimitUsd(): number
}

const topRuns = 10

/** The costs of the runs that a caller sees, by day and group. */
export function createFleetCosts({ db, clock, agentAccess, ...deps }: FleetCostsDeps): FleetCosts {
  const store = costStore(db)
  const runs = fleetStore(db)
  const { narrowed } = createScope({ ...deps, agentAccess, store: runs })

  async function namesOf(group: CostGrouping, keys: readonly string[], { accessible }: Scope) {
    if (group === 'agent') return agentNames(keys, accessible)
    if (group !== 'person') return new Map(keys.map((key): [string, Name] => [key, { key, label: key }]))
    const named = keys.map(async (key): Promise<[string, Name]> => {
      const label = key.startsWith('email:') ? key.slice('email:'.length) : await deps.accountName(key)
      return [key, { key, label: label ?? 'Deleted account' }]
    })
    return new Map(await Promise.all(named))
  }

  async function agentNames(keys: readonly string[], accessible: Scope['accessible']) {
    const names = new Map(accessible.map(({ agent }) => [agent.id, agent.name]))
    const isUnknown = keys.some((key) => !names.has(key))
    const deleted = isUnknown ? await runs.deletedAgents() : new Map<string, string>()
    return new Map(
      keys.map((id): [string, Name] => {
        const name = names.get(id)
        if (name !== undefined) return [id, { key: name, label: name }]
        const last = deleted.get(id) ?? id
        return [id, { key: last, label: `${last} (deleted)` }]
      }),
    )
  }

  async function limitsOf(caller: SignedIn, agent: string | undefined, scope: Scope, now: Date) {
    const capped = scope.accessible.filter(({ relation }) => !seesOwnRunsOnly(caller, relation))
    const caps = await deps.dailyCaps(capped.map(({ agent: { id, name } }) => ({ id, name })))
    const limits: CostLimit[] = mostUsed(caps.map((cap) => ({ kind: 'agent', ...cap })))
    const daily_usd = deps.dailyLimitUsd()
    if (!isAdmin(caller) || agent !== undefined || daily_usd === 0) return limits
    // The alert compares the limit with the runs created today, in UTC.
    const since = `${now.toISOString().slice(0, 10)}T00:00:00.000Z`
    const today = await store.total({ visible: 'all', since })
    const platform: CostLimit = {
      kind: 'platform',
      agent_name: null,
      daily_usd,
      spent_today_usd: today.micros / 1_000_000,
      cost_estimated: today.estimated === 1,
    }
    return [platform, ...limits].slice(0, 20)
  }

  return {
    async of(caller, { agent, group_by, ...query }) {
      const now = clock.now()
      const period = periodOf(query, now)
      const scope = await narrowed(caller, agent)
      const filter = { visible: scope.visible, ...spanOfDays(period) }
      const tags = new Map(scope.accessible.map(({ agent: { id, tags } }) => [id, tags]))
      const groupsOf = (key: string): string[] => {
        if (group_by !== 'tag') return [key]
        const of = tags.get(key) ?? []
        return of.length === 0 ? [''] : [...of]
      }
      const totals = await store.byKey(filter, group_by)
      const groups = groupTotals(totals, groupsOf)
      const shown = shownKeys(groups)
      const [byDay, names, top, month, limits] = await Promise.all([
        store.byDay(filter, group_by, group_by === 'tag' ? null : shown),
        namesOf(group_by, shown, scope),
        store.dearest(filter, topRuns),
        store.month(scope.visible, forecastStarts(now)),
        limitsOf(caller, agent, scope, now),
      ])
      const found = { totals, byDay, groups, groupsOf }
      return {
        ...period,
        group_by,
        ...figuresOf({ group_by, period }, found, (key) => names.get(key) ?? { key, label: key }),
        top_runs: top.map((row) => summaryOf(row, caller)),
        limits,
        forecast: forecastOf(month, now),
      }
    },
  }
}
