import { getAnalytics, getTokenStats } from '@roost/contracts/runs/analytics'
import { type AgentCall, agentRoute, type Route } from '../../http/route.ts'
import { seesOwnRunsOnly } from '../executions/index.ts'
import type { AgentAnalytics } from './service.ts'

export function analyticsRoutes(analytics: AgentAnalytics): Route[] {
  return [
    agentRoute(getAnalytics, (call) => analytics.analytics(runsOf(call), call.query.window)),
    agentRoute(getTokenStats, (call) =>
      analytics.tokenStats({ ...runsOf(call), agentName: call.agent.name }),
    ),
  ]
}

/** A calling agent sees only the figures of the runs that it started. */
function runsOf({ agent, caller, relation }: Pick<AgentCall<unknown>, 'agent' | 'caller' | 'relation'>) {
  const isOwnOnly = seesOwnRunsOnly(caller, relation) && caller.kind === 'key'
  return { agentId: agent.id, keyId: isOwnOnly ? caller.key.id : null }
}
