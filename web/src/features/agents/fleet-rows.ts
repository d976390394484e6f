import type { AgentRow } from '@roost/contracts/agents/agent'
import type { ContainersTelemetry } from '@roost/contracts/operations/telemetry'
import type { AgentRunStats } from '@roost/contracts/runs/fleet-executions'

/** One row of the list of agents: the agent, its resource usage and its runs. */
export type FleetRow = AgentRow & {
  /** The label, else the name. */
  title: string
  /** True for the owner and admins. */
  may_edit: boolean
  /** Percent of one CPU; null while the agent is stopped or has no metrics. */
  cpuPercent: number | null
  memoryMb: number | null
  running: number
  queued: number
  /** Of the last 24 hours. */
  runs: number
  failed: number
  successRate: number | null
  /** US dollars of the last 24 hours. */
  cost: number
  isCostEstimated: boolean
  lastRunAt: string | null
}

export function fleetRows(
  agents: readonly AgentRow[],
  stats: readonly AgentRunStats[] | undefined,
  telemetry: ContainersTelemetry | undefined,
  isAdmin = false,
): FleetRow[] {
  const runs = new Map(stats?.map((each) => [each.name, each]))
  const usage = new Map(telemetry?.containers.map((each) => [each.name, each]))
  return agents.map((agent) => {
    const run = runs.get(agent.name)
    const used = usage.get(agent.name)
    const hasFigures = used !== undefined && used.error === undefined
    return {
      ...agent,
      title: agent.label ?? agent.name,
      may_edit: isAdmin || agent.is_owner,
      cpuPercent: hasFigures ? used.cpu : null,
      memoryMb: hasFigures ? used.memory_mb : null,
      running: run?.running_count ?? 0,
      queued: run?.queued_count ?? 0,
      runs: run?.task_count ?? 0,
      failed: run?.failed_count ?? 0,
      successRate: run?.success_rate ?? null,
      cost: run?.total_cost ?? 0,
      isCostEstimated: run?.cost_estimated ?? false,
      lastRunAt: run?.last_execution_at ?? null,
    }
  })
}

export type FleetFilter = {
  text?: string
  /** Comma-separated; a row matches with any of them. */
  tags?: string
  status?: string
  owner?: string
}

/** The rows that match every part of the filter. Each word of the text must occur in the row. */
export function filterFleet(rows: readonly FleetRow[], filter: FleetFilter): FleetRow[] {
  const words = (filter.text ?? '').toLowerCase().split(/\s+/).filter(Boolean)
  const tags = (filter.tags ?? '').split(',').filter(Boolean)
  return rows.filter((row) => {
    if (filter.status && row.status !== filter.status) return false
    if (filter.owner && row.owner !== filter.owner) return false
    if (tags.length > 0 && !tags.some((tag) => row.tags.includes(tag))) return false
    if (words.length === 0) return true
    const text =
      `${row.name} ${row.label ?? ''} ${row.runtime} ${row.type} ${row.tags.join(' ')}`.toLowerCase()
    return words.every((word) => text.includes(word))
  })
}
