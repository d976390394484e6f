import { getAgentActivity } from '@roost/contracts/agents/health'
import { checkAgentHealth, getAgentHealth, getMonitoringStatus } from '@roost/contracts/operations/monitoring'
import { getFleetStats } from '@roost/contracts/runs/fleet'
import { z } from 'zod'
import { type Tool, tool } from '../tool.ts'
import { agentName } from './parameters.ts'

export const healthTools: Tool[] = [
  tool({
    name: 'get_agent_health',
    description:
      'Whether an agent is well: how it is judged and why, its container, its link, how full its context is, stuck runs, recent alerts.',
    audience: 'everyone',
    effect: 'read',
    input: { agent_name: agentName },
    run: ({ api }, { agent_name }) => api.call(getAgentHealth, { params: { name: agent_name } }),
  }),
  tool({
    name: 'trigger_health_check',
    description:
      'Checks an agent now and answers its health as get_agent_health does; its program is asked, for at most 5 seconds. For admins.',
    audience: 'person',
    effect: 'write',
    input: { agent_name: agentName },
    run: ({ api }, { agent_name }) => api.call(checkAgentHealth, { params: { name: agent_name } }),
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
      'All agents you can reach with how each is judged (critical, unhealthy, degraded, unknown, healthy) and why; the worst first.',
    audience: 'everyone',
    effect: 'read',
    input: {},
    run: ({ api }) => api.call(getMonitoringStatus, {}),
  }),
]
