import { getAgentMetrics } from '@roost/contracts/operations/agent-metrics'
import { type AgentRecords, requireAgent } from '../../agents/records/index.ts'
import { agentRoute, type Route } from '../../http/route.ts'
import type { ReadAgentMetrics } from './service.ts'

export function agentMetricsRoutes(
  read: ReadAgentMetrics,
  agentRecords: Pick<AgentRecords, 'byId'>,
): Route[] {
  return [
    agentRoute(getAgentMetrics, async (call) =>
      read(await requireAgent(agentRecords, call.agent.id), call.request.signal),
    ),
  ]
}
