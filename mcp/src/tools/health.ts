import { getAgentActivity } from '@roost/contracts/agents/health'
import { checkAgentHealth, getAgentHealth, getMonitoringStatus } from '@roost/contracts/operations/monitoring'
import { getFleetStats } from '@roost/contracts/runs/fleet-executions'
import { z } from 'zod'
import { asQuery, queryOf, request } from '../requests.ts'
import { type Tool, tool } from '../tool.ts'
import { agentName } from './parameters.ts'

export const healthTools: Tool[] = [
  tool({
    name: 'get_agent_health',
    description:
      'The health of an agent and the reasons for it: its container, its link, context use, stuck runs, recent alerts.',
    audience: 'everyone',
    effect: 'read',
    requests: [request(getAgentHealth)],
    input: { agent_name: agentName },
    run: ({ api }, { agent_name }) => api.call(getAgentHealth, { params: { name: agent_name } }),
  }),
  tool({
    name: 'trigger_health_check',
    description:
      'Check the health of an agent now and return it like get_agent_health. Asks the program of the agent, for at most 5 seconds. For admins.',
    audience: 'person',
    effect: 'write',
    requests: [request(checkAgentHealth)],
    input: { agent_name: agentName },
    run: ({ api }, { agent_name }) => api.call(checkAgentHealth, { params: { name: agent_name } }),
  }),
  tool({
    name: 'get_agent_activity_summary',
    description:
      'What an agent, or the whole fleet, did in the last hours: runs by outcome, cost, running and queued runs. For one agent also its newest tool calls.',
    audience: 'everyone',
    effect: 'read',
    requests: [
      request(getFleetStats, {
        as: { agent: 'agent_name' },
        leftOut: {
          start_time: 'The MCP contract names the period by its hours.',
          end_time: 'The MCP contract names the period by its hours.',
          model: 'The MCP contract has no such filter.',
          person: 'The MCP contract has no such filter.',
          tag: 'The MCP contract has no such filter.',
          error: 'list_recent_executions filters by error code.',
          cost: 'The MCP contract has no such filter.',
          tokens: 'The MCP contract has no such filter.',
          duration: 'The MCP contract has no such filter.',
        },
        differs: { hours: 'The MCP contract allows 1 to 168; a longer summary is too coarse to act on.' },
      }),
      request(getAgentActivity, {
        differs: { '{name}': 'Without an agent the summary covers the fleet.' },
      }),
    ],
    input: {
      agent_name: queryOf(getFleetStats).agent.describe('One agent; without it the whole fleet.'),
      hours: z.number().int().min(1).max(168).default(24),
    },
    async run({ api }, { agent_name, hours }) {
      const query = asQuery({ hours, agent: agent_name })
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
      'The health of all agents that you can reach (critical, unhealthy, degraded, unknown, healthy) with the reasons, worst first.',
    audience: 'everyone',
    effect: 'read',
    requests: [request(getMonitoringStatus)],
    input: {},
    run: ({ api }) => api.call(getMonitoringStatus, {}),
  }),
]
