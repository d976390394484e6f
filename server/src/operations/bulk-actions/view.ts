import type { AuthReport, FleetCosts, FleetHealth, FleetStatus } from '@roost/contracts/operations/fleet'
import type { Agent } from '../../agents/records/index.ts'
import type { AgentCheck } from '../monitoring/index.ts'
import type { AgentCost, ModelCost } from './store.ts'

export function fleetStatus(
  checks: readonly AgentCheck[],
  contextWarning: number,
  timestamp: string,
): FleetStatus {
  const of = (status: Agent['status']) => checks.filter(({ agent }) => agent.status === status).length
  return {
    timestamp,
    summary: {
      total: checks.length,
      running: of('running'),
      stopped: of('stopped'),
      exited: of('exited'),
      high_context: checks.filter(({ state }) => (state.context_percent ?? 0) >= contextWarning).length,
    },
    agents: checks.map(({ agent, runs, context, state }) => ({
      name: agent.name,
      type: agent.type,
      status: agent.status,
      is_system: agent.is_system,
      owner: agent.owner,
      created_at: agent.created,
      runtime: agent.runtime,
      active_executions: runs.active,
      queued_executions: runs.queued,
      context:
        context && state.context_percent !== null
          ? {
              context_tokens: context.context_used,
              context_window: context.context_max,
              context_percent: state.context_percent,
            }
          : null,
      last_activity_at: context?.last_activity_at ?? null,
    })),
  }
}

export function fleetHealth(checks: readonly AgentCheck[], timestamp: string): FleetHealth {
  const issues = checks.flatMap(({ agent, judgement }) =>
    judgement.issues.map(({ level, text, recommendation }) => ({
      isCritical: level === 'critical',
      item: { agent: agent.name, issue: text, recommendation },
    })),
  )
  const critical_issues = issues.filter(({ isCritical }) => isCritical).map(({ item }) => item)
  const warnings = issues.filter(({ isCritical }) => !isCritical).map(({ item }) => item)
  const healthy_agents = checks
    .filter(({ judgement }) => judgement.status === 'healthy')
    .map(({ agent }) => agent.name)
  return {
    timestamp,
    overall: critical_issues.length > 0 ? 'critical' : warnings.length > 0 ? 'degraded' : 'healthy',
    critical_issues,
    warnings,
    healthy_count: healthy_agents.length,
    healthy_agents,
  }
}

const warningPercent = 80

export function fleetCosts(
  found: { models: readonly ModelCost[]; agents: readonly AgentCost[]; todayMicros: number },
  about: { hours: number; dailyLimit: number; timestamp: string },
): FleetCosts {
  const { models, agents, todayMicros } = found
  const sum = (column: keyof Omit<ModelCost, 'model_used' | 'cost_estimated'>) =>
    models.reduce((total, model) => total + model[column], 0)
  const tokens_by_type = {
    input: sum('input_tokens'),
    output: sum('output_tokens'),
    cache_read: sum('cache_read_tokens'),
    cache_creation: sum('cache_creation_tokens'),
  }
  const { dailyLimit, hours, timestamp } = about
  const percent = dailyLimit === 0 ? null : Math.round((todayMicros / 1_000_000 / dailyLimit) * 1000) / 10
  return {
    enabled: true,
    timestamp,
    hours,
    summary: {
      total_cost: sum('cost_micros') / 1_000_000,
      cost_estimated: models.some(({ cost_estimated }) => cost_estimated === 1),
      total_tokens: Object.values(tokens_by_type).reduce((total, each) => total + each, 0),
      daily_limit: dailyLimit === 0 ? null : dailyLimit,
      cost_today: todayMicros / 1_000_000,
      cost_percent_of_limit: percent,
    },
    alerts:
      percent === null || percent < warningPercent
        ? []
        : [
            {
              severity: percent >= 100 ? ('high' as const) : ('medium' as const),
              type: 'cost_limit' as const,
              message: `Today's runs have cost ${percent} % of the daily limit of ${dailyLimit} USD.`,
            },
          ],
    cost_by_model: models
      // Leaves out runs without a model call.
      .filter(({ model_used, ...used }) => model_used !== null || Object.values(used).some((n) => n > 0))
      .toSorted((a, b) => b.cost_micros - a.cost_micros)
      .map(({ model_used, cost_micros, cost_estimated, ...tokens }) => ({
        model: model_used,
        cost: cost_micros / 1_000_000,
        cost_estimated: cost_estimated === 1,
        ...tokens,
      })),
    cost_by_agent: agents
      .toSorted((a, b) => b.cost_micros - a.cost_micros)
      .map(({ agent_name, cost_micros, cost_estimated, executions }) => ({
        agent_name,
        cost: cost_micros / 1_000_000,
        cost_estimated: cost_estimated === 1,
        executions,
      })),
    tokens_by_type,
  }
}

export type AuthOf = {
  auth_mode: keyof AuthReport['by_auth_mode']
  subscription_name: string | null
}

export function authReport(
  agents: readonly Pick<Agent, 'id' | 'name' | 'status' | 'type'>[],
  auth: ReadonlyMap<string, AuthOf>,
  subscriptions: AuthReport['subscriptions'],
  timestamp: string,
): AuthReport {
  const by: AuthReport['by_auth_mode'] = { subscription: [], api_key: [], not_configured: [] }
  for (const { id, name, status, type } of agents) {
    const { auth_mode, subscription_name } = auth.get(id) ?? unknownAuth
    by[auth_mode].push({ name, status, type, ...(subscription_name === null ? {} : { subscription_name }) })
  }
  return {
    timestamp,
    summary: {
      total_agents: agents.length,
      using_subscription: by.subscription.length,
      using_api_key: by.api_key.length,
      not_configured: by.not_configured.length,
      subscription_count: subscriptions.length,
    },
    by_auth_mode: by,
    subscriptions: subscriptions.map(({ id, name, agent_count, agents }) => ({
      id,
      name,
      agent_count,
      agents,
    })),
  }
}

const unknownAuth: AuthOf = { auth_mode: 'not_configured', subscription_name: null }
