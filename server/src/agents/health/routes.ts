import {
  getAgentActivity,
  getAgentStats,
  getAutonomyStatus,
  getContextStats,
  postHeartbeat,
} from '@roost/contracts/agents/health'
import { agentRoute, type Route, signedInRoute } from '../../http/route.ts'
import { type AgentRecords, requireAgent } from '../records/index.ts'
import type { Health } from './service.ts'

export function healthRoutes(health: Health, agentRecords: Pick<AgentRecords, 'byId'>): Route[] {
  return [
    signedInRoute(getContextStats, ({ caller }) => health.contextStats(caller)),
    signedInRoute(getAutonomyStatus, ({ caller }) => health.autonomyStatus(caller)),
    agentRoute(postHeartbeat, async ({ agent, body }) => {
      await health.beat(agent.id, body)
      return { ok: true as const, stored: true as const }
    }),
    agentRoute(getAgentStats, async ({ agent }) => health.stats(await requireAgent(agentRecords, agent.id))),
    agentRoute(getAgentActivity, async ({ agent, caller }) =>
      health.activity(await requireAgent(agentRecords, agent.id), caller),
    ),
  ]
}
