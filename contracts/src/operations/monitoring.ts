import { z } from 'zod'
import { agentStatuses, heartbeatStates } from '../agents/agent.ts'
import { endpoint } from '../kit/endpoint.ts'
import { eventType } from '../kit/event.ts'
import { AgentParams, queryInteger, Timestamp } from '../kit/primitives.ts'
import { breakerStates } from '../runs/breaker.ts'
import { FleetAlert } from './alerts.ts'
import { MonitoringConfig, MonitoringConfigPatch } from './monitoring-config.ts'

const tag = 'Operations'

/** Worst first. `unknown`: stopped deliberately, or just started. */
export const healthStatuses = ['critical', 'unhealthy', 'degraded', 'unknown', 'healthy'] as const
export type HealthStatus = (typeof healthStatuses)[number]

const count = z.number().int()
const figure = z.number().nullable()
const status = z.enum(healthStatuses)
const issues = z.array(z.string()).describe('Sentences for people, worst first.')
const cpu_percent = figure.describe('Percent of the CPUs that the agent may use, 0 to 100.')

export const AgentHealthRow = z.object({
  name: z.string(),
  status,
  container_status: z.enum(agentStatuses),
  link_connected: z.boolean(),
  runtime_available: z.boolean().describe('The agent can take runs now.'),
  last_check_at: Timestamp.nullable().describe('Time of the newest recorded check.'),
  issues,
  heartbeat_state: z.enum(heartbeatStates),
  last_heartbeat_age_seconds: figure,
  active_executions: count,
  memory_mb: figure,
})
export type AgentHealthRow = z.output<typeof AgentHealthRow>

export const MonitoringStatus = z.object({
  enabled: z.boolean(),
  last_check_at: Timestamp.nullable(),
  summary: z.object({
    total_agents: count,
    healthy: count,
    degraded: count,
    unhealthy: count,
    critical: count,
    unknown: count,
  }),
  agents: z.array(AgentHealthRow).describe('Worst first.'),
  circuit_breakers: z
    .record(z.string(), z.enum(breakerStates))
    .optional()
    .describe('For admins: dispatch breakers that are not closed, by agent.'),
})
export type MonitoringStatus = z.output<typeof MonitoringStatus>

export const getMonitoringStatus = endpoint({
  id: 'getMonitoringStatus',
  method: 'GET',
  path: '/api/monitoring/status',
  summary: 'Health of the agents that the caller can access',
  description: 'Computed from data that the platform already has; the agents are not queried.',
  tag,
  access: { who: 'any', scopes: ['ops'] },
  returns: MonitoringStatus,
})

export const AgentHealth = z.object({
  agent_name: z.string(),
  aggregate_status: status,
  last_check_at: Timestamp.nullable(),
  container: z.object({
    status: z.enum(agentStatuses),
    exit_code: count.nullable(),
    restart_count: count.describe('Unexpected exits in the last 10 minutes.'),
    oom_killed: z.boolean(),
    cpu_percent,
    memory_percent: figure,
    memory_mb: figure,
  }),
  link: z.object({
    connected: z.boolean(),
    latency_ms: figure.describe('From the newest manual check.'),
    last_seen_at: Timestamp.nullable(),
  }),
  runtime: z.object({
    available: z.boolean(),
    context_percent: figure,
    active_execution_count: count,
    stuck_execution_count: count.describe('Runs without output for `stuck_run_seconds`.'),
    long_running_execution_count: count.describe(
      'Runs that have lasted `ops_max_execution_minutes`. They are not stopped and not an issue.',
    ),
    recent_error_rate: figure.describe(
      'Share of failed runs among those that ended in the last hour, 0 to 1; null: no run ended.',
    ),
    last_task_at: Timestamp.nullable(),
  }),
  issues,
  recent_alerts: z.array(FleetAlert).describe('From the last 24 hours, newest first.'),
  uptime_percent_24h: figure.describe(
    'Percent of checks that found the agent running, among those when it should run; null: no such check.',
  ),
})
export type AgentHealth = z.output<typeof AgentHealth>

export const getAgentHealth = endpoint({
  id: 'getAgentHealth',
  method: 'GET',
  path: '/api/monitoring/agents/{name}',
  summary: 'Health of an agent: container, link, runtime',
  tag,
  access: { who: 'access' },
  params: AgentParams,
  returns: AgentHealth,
  fails: ['agent_not_found'],
})

export const HealthCheck = z.object({
  checked_at: Timestamp,
  status,
  cpu_percent,
  memory_percent: figure,
  issues,
})
export type HealthCheck = z.output<typeof HealthCheck>

export const listHealthChecks = endpoint({
  id: 'listHealthChecks',
  method: 'GET',
  path: '/api/monitoring/agents/{name}/history',
  summary: 'Checks of an agent, newest first',
  tag,
  access: { who: 'access' },
  params: AgentParams,
  query: z.object({ hours: queryInteger(1, 168, 24), limit: queryInteger(1, 2000, 500) }),
  returns: z.array(HealthCheck),
  fails: ['agent_not_found'],
})

export const checkAgentHealth = endpoint({
  id: 'checkAgentHealth',
  method: 'POST',
  path: '/api/monitoring/agents/{name}/check',
  summary: 'Check an agent now',
  description:
    'Queries the agent program over the link for at most 5 seconds. The check is added to the history.',
  tag,
  access: { who: 'admin', gate: 'person' },
  params: AgentParams,
  returns: AgentHealth,
  fails: ['agent_not_found'],
  audit: { type: 'system', action: 'check_health' },
})

export const getMonitoringConfig = endpoint({
  id: 'getMonitoringConfig',
  method: 'GET',
  path: '/api/monitoring/config',
  summary: 'The settings of monitoring',
  tag,
  access: { who: 'admin' },
  returns: MonitoringConfig,
})

export const putMonitoringConfig = endpoint({
  id: 'putMonitoringConfig',
  method: 'PUT',
  path: '/api/monitoring/config',
  summary: 'Change the settings of monitoring',
  description:
    'Omitted fields stay unchanged. Interval, context thresholds, stuck time and cooldown are the settings `ops_health_check_interval`, `ops_context_…_threshold`, `ops_idle_timeout_minutes` and `ops_alert_suppression_minutes` of `/api/settings/ops/config` under other names.',
  tag,
  access: { who: 'admin' },
  body: MonitoringConfigPatch,
  returns: MonitoringConfig,
  audit: { type: 'configuration', action: 'update_monitoring' },
})

export const agentHealthChanged = eventType({
  name: 'agent.health_changed',
  stored: true,
  fields: z.object({ previous_status: status, current_status: status, issues: z.array(z.string()) }),
})
