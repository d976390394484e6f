import type { AgentStatus } from '@roost/contracts/agents/agent'
import type { AgentActivity, AgentStats, ToolActivity } from '@roost/contracts/agents/health'
import { aliveMs, type LastBeat, type LastUse } from './beats.ts'

type Named = { name: string; status: AgentStatus }
type Sample = {
  cpuPercent: number | null
  memoryUsedBytes: number
  memoryLimitBytes: number | null
  networkRxBytes: number | null
  networkTxBytes: number | null
  sampledAt: string
}

/** An agent's work as reported by its runs. */
export type RunActivity = {
  /** A run occupies a slot now. */
  busy: boolean
  /** The latest tool calls, newest first. */
  timeline: ToolActivity[]
}

const emptyStats = {
  cpu_percent: null,
  memory_used_bytes: null,
  memory_limit_bytes: null,
  memory_percent: null,
  network_rx_bytes: null,
  network_tx_bytes: null,
  uptime_seconds: null,
  age_seconds: null,
  source: null,
}

type Measured = Named & {
  started_at: string | null
  cpu: string
  memory: string
  /** Its values are those of the present container. */
  applied: { cpu: string; memory: string } | null
}

/** Each is null when there is none. */
export type Sources = { use: LastUse | null; sample: Sample | null; beat: LastBeat | null }

/** The agent's report of its own use; null if it is old, or from before the container's last start. */
export function currentUse(agent: Measured, last: LastUse | null, now: Date): LastUse | null {
  if (last === null || now.getTime() - last.at > aliveMs) return null
  const startedAt = agent.started_at === null ? 0 : Date.parse(agent.started_at)
  return last.at < startedAt ? null : last
}

/**
 * The agent's own report, else the engine's sample, else the memory of the heartbeat; nulls unless the agent is
 * running. Agents can lie, so their figures never exceed what the engine allows them.
 */
export function statsOf(agent: Measured, { use, sample, beat }: Sources, now: Date): AgentStats {
  const base = { agent_name: agent.name, status: agent.status, ...emptyStats }
  if (agent.status !== 'running') return base
  const uptime_seconds = agent.started_at ? secondsSince(Date.parse(agent.started_at), now) : null
  const limits = agent.applied ?? agent
  const memory_limit_bytes = bytesOf(limits.memory)
  if (use) {
    const { cpu_percent, memory_bytes, network_rx_bytes, network_tx_bytes } = use.use
    const memory_used_bytes = Math.min(memory_bytes, memory_limit_bytes)
    return {
      ...base,
      uptime_seconds,
      cpu_percent: rounded(Math.min(cpu_percent, 100 * Number(limits.cpu))),
      memory_used_bytes,
      memory_limit_bytes,
      memory_percent: percentOf(memory_used_bytes, memory_limit_bytes),
      network_rx_bytes,
      network_tx_bytes,
      age_seconds: secondsSince(use.at, now),
      source: 'agent',
    }
  }
  if (sample) {
    return {
      ...base,
      uptime_seconds,
      cpu_percent: rounded(sample.cpuPercent),
      memory_used_bytes: sample.memoryUsedBytes,
      memory_limit_bytes: sample.memoryLimitBytes,
      memory_percent: percentOf(sample.memoryUsedBytes, sample.memoryLimitBytes),
      network_rx_bytes: sample.networkRxBytes,
      network_tx_bytes: sample.networkTxBytes,
      age_seconds: secondsSince(Date.parse(sample.sampledAt), now),
      source: 'engine',
    }
  }
  if (beat?.beat.memory_mb == null) return { ...base, uptime_seconds }
  const memory_used_bytes = Math.min(Math.round(beat.beat.memory_mb * 1024 * 1024), memory_limit_bytes)
  return {
    ...base,
    uptime_seconds,
    memory_used_bytes,
    memory_limit_bytes,
    memory_percent: percentOf(memory_used_bytes, memory_limit_bytes),
    age_seconds: secondsSince(beat.at, now),
    source: 'agent',
  }
}

export function activityReply(agent: Named, { busy, timeline }: RunActivity): AgentActivity {
  const active = timeline.find((call) => call.status === 'running')
  const tool_counts: Record<string, number> = {}
  for (const call of timeline) tool_counts[call.tool] = (tool_counts[call.tool] ?? 0) + 1
  const isUp = agent.status === 'running'
  return {
    agent_name: agent.name,
    status: !isUp ? 'offline' : busy ? 'running' : 'idle',
    active_tool:
      active && isUp
        ? { name: active.tool, input_summary: active.input_summary, started_at: active.started_at }
        : null,
    tool_counts,
    timeline: timeline.slice(0, 100),
    totals: {
      calls: timeline.length,
      duration_ms: timeline.reduce((sum, call) => sum + (call.duration_ms ?? 0), 0),
      started_at: timeline.at(-1)?.started_at ?? null,
    },
  }
}

/** Converts sizes such as `4g` to bytes. */
export function bytesOf(memory: string): number {
  return Number.parseInt(memory, 10) * 1024 ** 3
}

function percentOf(used: number, limit: number | null): number | null {
  return limit ? rounded((used / limit) * 100) : null
}

function rounded(value: number | null): number | null {
  return value === null ? null : Math.round(value * 10) / 10
}

function secondsSince(ms: number, now: Date): number {
  return Math.max(0, Math.round((now.getTime() - ms) / 100) / 10)
}
