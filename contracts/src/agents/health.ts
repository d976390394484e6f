import { z } from 'zod'
import { endpoint } from '../kit/endpoint.ts'
import { AgentParams, Timestamp } from '../kit/primitives.ts'
import { agentStatuses } from './agent.ts'

const tag = 'Agents'

export const Heartbeat = z.object({
  memory_mb: z.number().min(0).nullish(),
  active_executions: z.number().int().min(0).nullish(),
  uptime_s: z.number().min(0).nullish(),
  executions: z
    .array(
      z.object({
        execution_id: z.string().max(64),
        tool: z.string().max(200).nullish(),
        summary: z.string().max(1000).nullish(),
        since: Timestamp.max(40).nullish(),
      }),
    )
    .max(20)
    .nullish(),
})
export type Heartbeat = z.output<typeof Heartbeat>

export const postHeartbeat = endpoint({
  id: 'postHeartbeat',
  method: 'POST',
  path: '/api/agents/{name}/heartbeat',
  summary: 'Heartbeat of an agent, every 5 seconds',
  tag,
  access: { who: 'agent', refuses: ['run'] },
  params: AgentParams,
  body: Heartbeat,
  bodyOptional: true,
  returns: z.object({ ok: z.literal(true), stored: z.literal(true) }),
  fails: ['agent_not_found', 'agent_identity_required'],
})

export const AgentStats = z.object({
  agent_name: z.string(),
  status: z.enum(agentStatuses),
  /** Percent of one CPU: 200 means two busy cores. */
  cpu_percent: z.number().nullable(),
  memory_used_bytes: z.number().nullable(),
  memory_limit_bytes: z.number().nullable(),
  memory_percent: z.number().nullable(),
  network_rx_bytes: z.number().nullable(),
  network_tx_bytes: z.number().nullable(),
  uptime_seconds: z.number().nullable(),
  /** Age of the values. */
  age_seconds: z.number().nullable(),
  source: z
    .enum(['agent', 'engine'])
    .nullable()
    .describe('Who measured the values. An agent can report wrong ones about itself.'),
})
export type AgentStats = z.output<typeof AgentStats>

export const getAgentStats = endpoint({
  id: 'getAgentStats',
  method: 'GET',
  path: '/api/agents/{name}/stats',
  summary: 'CPU, memory and network of an agent; null values while it is stopped',
  tag,
  access: { who: 'access' },
  params: AgentParams,
  returns: AgentStats,
  fails: ['agent_not_found'],
})

export const ToolActivity = z.object({
  id: z.string(),
  tool: z.string(),
  input_summary: z.string(),
  output_summary: z.string().nullable(),
  duration_ms: z.number().nullable(),
  started_at: Timestamp,
  ended_at: Timestamp.nullable(),
  success: z.boolean().nullable(),
  status: z.enum(['running', 'completed']),
})
export type ToolActivity = z.output<typeof ToolActivity>

export const AgentActivity = z.object({
  agent_name: z.string(),
  status: z.enum(['running', 'idle', 'offline']),
  active_tool: z.object({ name: z.string(), input_summary: z.string(), started_at: Timestamp }).nullable(),
  tool_counts: z.record(z.string(), z.number().int()),
  timeline: z.array(ToolActivity).max(100),
  totals: z.object({
    calls: z.number().int(),
    duration_ms: z.number(),
    started_at: Timestamp.nullable(),
  }),
})
export type AgentActivity = z.output<typeof AgentActivity>

export const getAgentActivity = endpoint({
  id: 'getAgentActivity',
  method: 'GET',
  path: '/api/agents/{name}/activity',
  summary: 'The latest tool calls of an agent, newest first',
  tag,
  access: { who: 'access' },
  params: AgentParams,
  returns: AgentActivity,
  fails: ['agent_not_found'],
})

export const ContextStats = z.object({
  name: z.string(),
  status: z.enum(agentStatuses),
  activity_state: z.enum(['active', 'idle', 'offline']),
  context_percent: z.number(),
  context_used: z.number(),
  context_max: z.number(),
  last_activity_at: Timestamp.nullable(),
})
export type ContextStats = z.output<typeof ContextStats>

export const getContextStats = endpoint({
  id: 'getContextStats',
  method: 'GET',
  path: '/api/agents/context-stats',
  summary: 'Context usage of each agent',
  tag,
  access: { who: 'any' },
  returns: z.object({ agents: z.array(ContextStats) }),
})

export const getAutonomyStatus = endpoint({
  id: 'getAutonomyStatus',
  method: 'GET',
  path: '/api/agents/autonomy-status',
  summary: 'Autonomy of each agent, by name',
  tag,
  access: { who: 'any' },
  returns: z.record(
    z.string(),
    z.object({
      autonomy_enabled: z.boolean(),
      total_schedules: z.number().int(),
      enabled_schedules: z.number().int(),
    }),
  ),
})
