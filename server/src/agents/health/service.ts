import type { AgentActivity, AgentStats, ContextStats, Heartbeat } from '@roost/contracts/agents/health'
import type { Loop } from '../../background/loops.ts'
import type { Caller } from '../../identity/access/index.ts'
import type { Clock } from '../../kit/clock.ts'
import type { AgentLink } from '../../ports/agent-link/port.ts'
import type { Containers } from '../../ports/containers/port.ts'
import type { Ephemeral } from '../../ports/ephemeral/port.ts'
import type { AgentAccess } from '../access/index.ts'
import type { Agent, AgentRecords } from '../records/index.ts'
import { type BeatState, createBeats } from './beats.ts'
import { createBroadcast } from './broadcast.ts'
import { activityReply, type RunActivity, statsOf } from './rules.ts'
import { createSamples } from './samples.ts'

export type ContextUse = {
  busy: boolean
  context_used: number
  context_max: number
  last_activity_at: string | null
}
export type ScheduleCounts = { total: number; enabled: number }

export type Health = {
  /** A sign of life from the agent, over its link or over HTTP: kept, and leases of its runs renewed. */
  beat(agentId: string, beat: Heartbeat): Promise<void>
  /** The agent has dialled in: as good as its first beat, which comes seconds later. */
  greeted(agentId: string): void
  /** Whether the agent answers: its link is open and greeted. */
  linkConnected(agentId: string): boolean
  heartbeatOf(agentId: string): BeatState
  stats(agent: Agent): AgentStats
  activity(agent: Agent, caller: Caller): Promise<AgentActivity>
  contextStats(caller: Caller): Promise<{ agents: ContextStats[] }>
  autonomyStatus(
    caller: Caller,
  ): Promise<
    Record<string, { autonomy_enabled: boolean; total_schedules: number; enabled_schedules: number }>
  >
  forget(agentId: string): void
  loops: Loop[]
  open(): Promise<void>
  close(): Promise<void>
}

export type HealthDeps = {
  agentRecords: Pick<AgentRecords, 'all'>
  agentAccess: Pick<AgentAccess, 'accessibleAgents'>
  containers: Pick<Containers, 'sample'>
  ephemeral: Pick<Ephemeral, 'kind' | 'publish' | 'subscribe'>
  link: Pick<AgentLink, 'isConnected'>
  clock: Pick<Clock, 'now'>
  /** Renews the leases of the runs that a beat names. */
  /** Of the runs that a beat names. */
  renewLeases(agentId: string, beat: { executions: { execution_id: string }[] }): Promise<void>
  /** The latest tool calls of an agent's runs; of a private conversation only the tools' names. */
  activityOf(agentId: string, caller: Caller): Promise<RunActivity>
  /** How full the context of each agent's latest run was; agents that never ran are left out. */
  contextOf(agentIds: string[]): Promise<ReadonlyMap<string, ContextUse>>
  /** Agents without schedules are left out. */
  scheduleCounts(agentIds: string[]): Promise<ReadonlyMap<string, ScheduleCounts>>
}

export const sampleEverySeconds = 10

export function createHealth(deps: HealthDeps): Health {
  const { agentRecords, agentAccess, containers, clock, link } = deps
  const broadcast = createBroadcast(deps.ephemeral)
  const beats = createBeats(clock, broadcast)
  const samples = createSamples({ agentRecords, containers, clock, broadcast })
  const reachableAgents = async (caller: Caller) =>
    (await agentAccess.accessibleAgents(caller)).map(({ agent }) => agent)

  return {
    async beat(agentId, beat) {
      beats.record(agentId, beat)
      const executions = beat.executions?.map(({ execution_id }) => ({ execution_id })) ?? []
      await deps.renewLeases(agentId, { executions })
    },
    greeted: (agentId) => beats.record(agentId, {}),
    linkConnected: (agentId) => link.isConnected(agentId),
    heartbeatOf: beats.stateOf,
    stats: (agent) => statsOf(agent, samples.of(agent), beats.last(agent.id), clock.now()),
    activity: async (agent, caller) => activityReply(agent, await deps.activityOf(agent.id, caller)),

    async contextStats(caller) {
      const agents = await reachableAgents(caller)
      const uses = await deps.contextOf(agents.map((agent) => agent.id))
      return { agents: agents.map((agent) => contextReply(agent, uses.get(agent.id))) }
    },

    async autonomyStatus(caller) {
      const agents = await reachableAgents(caller)
      const counts = await deps.scheduleCounts(agents.map((agent) => agent.id))
      return Object.fromEntries(
        agents.map(({ id, name, autonomy_enabled }) => [
          name,
          {
            autonomy_enabled,
            total_schedules: counts.get(id)?.total ?? 0,
            enabled_schedules: counts.get(id)?.enabled ?? 0,
          },
        ]),
      )
    },

    forget(agentId) {
      beats.forget(agentId)
      samples.forget(agentId)
    },
    loops: [{ name: 'agents.sample', everySeconds: sampleEverySeconds, run: samples.takeAll }],
    open: broadcast.open,
    close: broadcast.close,
  }
}

function contextReply(agent: Agent, use: ContextUse | undefined): ContextStats {
  const { context_used = 0, context_max = 0, last_activity_at = null, busy = false } = use ?? {}
  return {
    name: agent.name,
    status: agent.status,
    activity_state: agent.status !== 'running' ? 'offline' : busy ? 'active' : 'idle',
    context_percent: context_max > 0 ? Math.round((context_used / context_max) * 1000) / 10 : 0,
    context_used,
    context_max,
    last_activity_at,
  }
}
