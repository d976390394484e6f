import type { AgentActivity, AgentStats, ContextStats } from '@roost/contracts/agents/health'
import type { Loop } from '../../background/loops.ts'
import type { Caller } from '../../identity/access/index.ts'
import type { Clock } from '../../kit/clock.ts'
import type { AgentLink } from '../../ports/agent-link/port.ts'
import type { Containers } from '../../ports/containers/port.ts'
import type { Ephemeral } from '../../ports/ephemeral/port.ts'
import type { AgentAccess } from '../access/index.ts'
import type { Agent, AgentRecords } from '../records/index.ts'
import { type BeatState, createBeats } from './beats.ts'
import { type AnyBeat, createBroadcast } from './broadcast.ts'
import { activityReply, currentUse, type RunActivity, statsOf } from './rules.ts'
import { createSamples } from './samples.ts'

export type ContextUse = {
  busy: boolean
  context_used: number
  context_max: number
  last_activity_at: string | null
}
export type ScheduleCounts = { total: number; enabled: number }

export type Health = {
  /** Stores a heartbeat, received over the link or HTTP, and renews the leases of the agent's runs. */
  beat(agentId: string, beat: AnyBeat): Promise<void>
  /** The agent has connected; counts as its first heartbeat, which follows seconds later. */
  connected(agentId: string): void
  /** Whether the agent's link is open and its handshake done. */
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
  /** Renews the leases of the runs that a heartbeat names. */
  renewLeases(agentId: string, beat: { executions: { execution_id: string }[] }): Promise<void>
  /** The latest tool calls of an agent's runs. Only tool names for private conversations. */
  activityOf(agentId: string, caller: Caller): Promise<RunActivity>
  /** Context use of each agent's latest run; agents without runs are omitted. */
  contextOf(agentIds: string[]): Promise<ReadonlyMap<string, ContextUse>>
  /** Agents without schedules are omitted. */
  scheduleCounts(agentIds: string[]): Promise<ReadonlyMap<string, ScheduleCounts>>
}

export const sampleEverySeconds = 10

export function createHealth(deps: HealthDeps): Health {
  const { agentRecords, agentAccess, containers, clock, link } = deps
  const broadcast = createBroadcast(deps.ephemeral)
  const beats = createBeats(clock, broadcast)
  const ownUse = (agent: Agent) => currentUse(agent, beats.lastUse(agent.id), clock.now())
  const samples = createSamples({
    agentRecords,
    containers,
    broadcast,
    reportsOwnUse: (agent) => ownUse(agent) !== null,
  })
  const accessibleAgents = async (caller: Caller) =>
    (await agentAccess.accessibleAgents(caller)).map(({ agent }) => agent)

  return {
    async beat(agentId, beat) {
      beats.record(agentId, beat)
      const executions = beat.executions?.map(({ execution_id }) => ({ execution_id })) ?? []
      await deps.renewLeases(agentId, { executions })
    },
    connected: (agentId) => beats.record(agentId, {}),
    linkConnected: (agentId) => link.isConnected(agentId),
    heartbeatOf: beats.stateOf,
    stats(agent) {
      const sources = { use: ownUse(agent), sample: samples.of(agent), beat: beats.last(agent.id) }
      return statsOf(agent, sources, clock.now())
    },
    activity: async (agent, caller) => activityReply(agent, await deps.activityOf(agent.id, caller)),

    async contextStats(caller) {
      const agents = await accessibleAgents(caller)
      const uses = await deps.contextOf(agents.map((agent) => agent.id))
      return { agents: agents.map((agent) => contextReply(agent, uses.get(agent.id))) }
    },

    async autonomyStatus(caller) {
      const agents = await accessibleAgents(caller)
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
    loops: [
      { name: 'agents.sample', everySeconds: sampleEverySeconds, per: 'engine', run: samples.sampleAll },
    ],
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
