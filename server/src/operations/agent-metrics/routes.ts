import { getAgentMetrics } from '@roost/contracts/operations/agent-metrics'
import { type Directory, requireAgent } from '../../agents/directory/index.ts'
import { agentRoute, type Route } from '../../http/route.ts'
import type { ReadAgentMetrics } from './service.ts'

export function agentMetricsRoutes(read: ReadAgentMetrics, directory: Pick<Directory, 'byId'>): Route[] {
  return [
    agentRoute(getAgentMetrics, async (call) =>
      read(await requireAgent(directory, call.agent.id), call.request.signal),
    ),
  ]
}
