import type {
  AgentHealth,
  AgentHealthRow,
  HealthStatus,
  MonitoringStatus,
} from '@roost/contracts/operations/monitoring'
import type { AgentCheck } from './check.ts'
import { textsOf } from './rounds.ts'
import { rank } from './rules.ts'
import type { AgentHealthTable } from './tables.ts'

const megabyte = 1024 ** 2

export function rowOf(check: AgentCheck, newest: AgentHealthTable | undefined): AgentHealthRow {
  const { agent, state, judgement, beat, runs } = check
  return {
    name: agent.name,
    status: judgement.status,
    container_status: agent.status,
    link_connected: state.isLinked,
    runtime_available: isAvailable(check),
    last_check_at: newest?.checked_at ?? null,
    issues: textsOf(check),
    ...beat,
    active_executions: runs.active,
    memory_mb: memoryOf(check),
  }
}

export function worstFirst(a: AgentHealthRow, b: AgentHealthRow): number {
  return rank(a.status) - rank(b.status) || (a.name < b.name ? -1 : 1)
}

export function summaryOf(rows: readonly AgentHealthRow[]): MonitoringStatus['summary'] {
  const of = (status: HealthStatus) => rows.filter((row) => row.status === status).length
  return {
    total_agents: rows.length,
    healthy: of('healthy'),
    degraded: of('degraded'),
    unhealthy: of('unhealthy'),
    critical: of('critical'),
    unknown: of('unknown'),
  }
}

export function detailOf(
  check: AgentCheck,
  found: {
    check: AgentHealthTable | null
    /** Last contact with its program. */
    lastSeenAt: string | null
    alerts: AgentHealth['recent_alerts']
    uptime: number | null
  },
): AgentHealth {
  const { agent, state, judgement, runs, context } = check
  const ended = runs.success + runs.failed
  return {
    agent_name: agent.name,
    aggregate_status: judgement.status,
    last_check_at: found.check?.checked_at ?? null,
    container: {
      status: agent.status,
      exit_code: agent.exit_code,
      restart_count: agent.recent_exits.length,
      oom_killed: agent.oom_killed,
      cpu_percent: state.cpu_percent,
      memory_percent: state.memory_percent,
      memory_mb: memoryOf(check),
    },
    link: {
      connected: state.isLinked,
      latency_ms: found.check?.latency_ms ?? null,
      last_seen_at: found.lastSeenAt,
    },
    runtime: {
      available: isAvailable(check),
      context_percent: state.context_percent,
      active_execution_count: runs.active,
      stuck_execution_count: state.stuck,
      long_running_execution_count: runs.long,
      recent_error_rate: ended === 0 ? null : runs.failed / ended,
      last_task_at: context?.last_activity_at ?? null,
    },
    issues: textsOf(check),
    recent_alerts: found.alerts,
    uptime_percent_24h: found.uptime,
  }
}

function isAvailable({ agent, state }: AgentCheck): boolean {
  return agent.status === 'running' && state.isLinked && !state.isRefused
}

function memoryOf({ stats }: AgentCheck): number | null {
  return stats.memory_used_bytes === null ? null : Math.round((stats.memory_used_bytes / megabyte) * 10) / 10
}
