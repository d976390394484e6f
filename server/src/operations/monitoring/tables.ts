import type { AgentStatus } from '@roost/contracts/agents/agent'
import type { HealthStatus } from '@roost/contracts/operations/monitoring'
import type { ExecutionRow } from '../../runs/executions/index.ts'

/** One row per check of an agent. */
export type HealthChecksTable = {
  agent_id: string
  checked_at: string
  status: HealthStatus
  container_status: AgentStatus
  cpu_percent: number | null
  memory_percent: number | null
  /** JSON array of sentences. */
  issues: string
}

/** Result of the newest check. */
export type AgentHealthTable = {
  agent_id: string
  status: HealthStatus
  checked_at: string
  /** From the newest manual check; null when there was none or the agent did not reply. */
  latency_ms: number | null
}

export type MonitoringTables = {
  health_checks: HealthChecksTable
  agent_health: AgentHealthTable
  /** Tables of other features, read only. */
  executions: ExecutionRow
  execution_lines: { execution_id: string; n: number; line: string }
  agents: { id: string; state: string }
}
