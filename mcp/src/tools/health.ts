import { getAgentActivity, getAgentStats, getContextStats } from '@roost/contracts/agents/health'
import { getAgent } from '@roost/contracts/agents/registry'
import { getFleetStats } from '@roost/contracts/runs/fleet'
import { z } from 'zod'
import { type Tool, tool } from '../tool.ts'
import { agentName } from './parameters.ts'

export const healthTools: Tool[] = [
  tool({
    name: 'get_agent_health',
    description:
      'Whether an agent is well: its status, the age of its last sign of life, its CPU and memory, and how full its context is.',
    audience: 'everyone',
    effect: 'read',
    input: { agent_name: agentName },
    async run({ api }, { agent_name }) {
      const params = { name: agent_name }
      const [agent, stats] = await Promise.all([
        api.call(getAgent, { params }),
        api.call(getAgentStats, { params }),
      ])
      const { status, heartbeat_state, last_heartbeat_age_seconds, circuit_breaker } = agent
      return { agent_name, status, heartbeat_state, last_heartbeat_age_seconds, circuit_breaker, stats }
    },
  }),
  tool({
    name: 'get_agent_activity_summary',
    description:
      'What an agent, or the whole fleet, did in the last hours: runs by outcome, cost, what runs and what waits now. With an agent also its newest tool calls.',
    audience: 'everyone',
    effect: 'read',
    input: {
      agent_name: agentName.optional(),
      hours: z.number().int().min(1).max(168).default(24),
    },
    async run({ api }, { agent_name, hours }) {
      const query = { hours: String(hours), agent: agent_name }
      if (agent_name === undefined) return { hours, runs: await api.call(getFleetStats, { query }) }
      const [runs, activity] = await Promise.all([
        api.call(getFleetStats, { query }),
        api.call(getAgentActivity, { params: { name: agent_name } }),
      ])
      return { agent_name, hours, runs, activity }
    },
  }),
  tool({
    name: 'get_fleet_health',
    description:
      'All agents you can reach with their status, what they do now and how full their context is.',
    audience: 'everyone',
    effect: 'read',
    input: {},
    run: ({ api }) => api.call(getContextStats, {}),
  }),
]
