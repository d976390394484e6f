import { z } from 'zod'
import { agentStatuses, runtimes } from '../agents/agent.ts'
import { endpoint } from '../kit/endpoint.ts'
import { Money, queryInteger, Timestamp } from '../kit/primitives.ts'
import { CostEstimated } from '../runs/cost.ts'
import { itemPriorities } from './operator-queue.ts'

const tag = 'Operations'
const readers = { who: 'admin', scopes: ['ops'] } as const
const count = z.number().int()

export const FleetStatus = z.object({
  timestamp: Timestamp,
  summary: z.object({
    total: count,
    running: count,
    stopped: count,
    exited: count,
    high_context: count.describe('Agents above the context warning threshold of monitoring.'),
  }),
  agents: z.array(
    z.object({
      name: z.string(),
      type: z.string(),
      status: z.enum(agentStatuses),
      is_system: z.boolean(),
      owner: z.string(),
      created_at: Timestamp,
      runtime: z.enum(runtimes),
      active_executions: count,
      queued_executions: count,
      context: z
        .object({ context_tokens: count, context_window: count, context_percent: z.number() })
        .nullable()
        .describe('From the newest run that reported it; null: no run did.'),
      last_activity_at: Timestamp.nullable(),
    }),
  ),
})
export type FleetStatus = z.output<typeof FleetStatus>

export const getFleetStatus = endpoint({
  id: 'getFleetStatus',
  method: 'GET',
  path: '/api/ops/fleet/status',
  summary: 'All agents with their executions and context usage',
  tag,
  access: readers,
  returns: FleetStatus,
})

const Issue = z.object({ agent: z.string(), issue: z.string(), recommendation: z.string() })
export const FleetHealth = z.object({
  timestamp: Timestamp,
  overall: z.enum(['healthy', 'degraded', 'critical']),
  critical_issues: z.array(Issue),
  warnings: z.array(Issue),
  healthy_count: count,
  healthy_agents: z.array(z.string()),
})
export type FleetHealth = z.output<typeof FleetHealth>

export const getFleetHealth = endpoint({
  id: 'getFleetHealth',
  method: 'GET',
  path: '/api/ops/fleet/health',
  summary: 'Problems of agents, with recommendations',
  description: 'Agents that were stopped deliberately are not listed.',
  tag,
  access: readers,
  returns: FleetHealth,
})

export const FleetCosts = z.object({
  enabled: z.literal(true),
  timestamp: Timestamp,
  hours: count,
  summary: z.object({
    total_cost: Money,
    cost_estimated: CostEstimated,
    total_tokens: count,
    daily_limit: Money.nullable().describe('Null: no limit.'),
    cost_today: Money.describe("Cost of today's runs (UTC), regardless of the window."),
    cost_percent_of_limit: z.number().nullable().describe('Share of `cost_today` in the limit.'),
  }),
  alerts: z.array(
    z.object({ severity: z.enum(itemPriorities), type: z.literal('cost_limit'), message: z.string() }),
  ),
  cost_by_model: z
    .array(
      z.object({
        model: z.string().nullable().describe('Null: the run reported no model.'),
        cost: Money,
        cost_estimated: CostEstimated,
        input_tokens: count,
        output_tokens: count,
        cache_read_tokens: count,
        cache_creation_tokens: count,
      }),
    )
    .describe('Most expensive first.'),
  cost_by_agent: z
    .array(
      z.object({ agent_name: z.string(), cost: Money, cost_estimated: CostEstimated, executions: count }),
    )
    .describe('Most expensive first; deleted agents under their last name.'),
  tokens_by_type: z.object({ input: count, output: count, cache_read: count, cache_creation: count }),
})
export type FleetCosts = z.output<typeof FleetCosts>

export const getFleetCosts = endpoint({
  id: 'getFleetCosts',
  method: 'GET',
  path: '/api/ops/costs',
  summary: 'Cost of runs by model and by agent',
  tag,
  access: readers,
  query: z.object({
    hours: queryInteger(1, 8760, 24).describe('Only runs created in this number of hours before now.'),
  }),
  returns: FleetCosts,
})

const AuthAgent = z.object({
  name: z.string(),
  status: z.enum(agentStatuses),
  type: z.string(),
  subscription_name: z.string().optional(),
})
export const AuthReport = z.object({
  timestamp: Timestamp,
  summary: z.object({
    total_agents: count,
    using_subscription: count,
    using_api_key: count,
    not_configured: count,
    subscription_count: count,
  }),
  by_auth_mode: z.object({
    subscription: z.array(AuthAgent),
    api_key: z.array(AuthAgent),
    not_configured: z.array(AuthAgent),
  }),
  subscriptions: z.array(
    z.object({ id: z.string(), name: z.string(), agent_count: count, agents: z.array(z.string()) }),
  ),
})
export type AuthReport = z.output<typeof AuthReport>

export const getAuthReport = endpoint({
  id: 'getAuthReport',
  method: 'GET',
  path: '/api/ops/auth-report',
  summary: 'The credential that each agent uses for its model provider',
  tag,
  access: readers,
  returns: AuthReport,
})
