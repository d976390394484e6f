import {
  getAgentActivity,
  getAgentStats,
  getAutonomyStatus,
  getContextStats,
  postHeartbeat,
} from '@roost/contracts/agents/health'
import { agentRoute, type Route, signedInRoute } from '../../http/route.ts'
import { type Directory, requireAgent } from '../directory/index.ts'
import type { Health } from './health.ts'

export function healthRoutes(health: Health, directory: Pick<Directory, 'byId'>): Route[] {
  return [
    signedInRoute(getContextStats, ({ caller }) => health.contextStats(caller)),
    signedInRoute(getAutonomyStatus, ({ caller }) => health.autonomyStatus(caller)),
    agentRoute(postHeartbeat, async ({ agent, body }) => {
      await health.beat(agent.id, body)
      return { ok: true as const, stored: true as const }
    }),
    agentRoute(getAgentStats, async ({ agent }) => health.stats(await requireAgent(directory, agent.id))),
    agentRoute(getAgentActivity, async ({ agent, caller }) =>
      health.activity(await requireAgent(directory, agent.id), caller),
    ),
  ]
}
