import {
  checkAgentHealth,
  getAgentHealth,
  getMonitoringConfig,
  getMonitoringStatus,
  listHealthChecks,
  putMonitoringConfig,
} from '@roost/contracts/operations/monitoring'
import { type AgentRecords, requireAgent } from '../../agents/records/index.ts'
import { agentRoute, type Route, route, signedInRoute } from '../../http/route.ts'
import { Fault } from '../../kit/fault.ts'
import type { Monitoring } from './service.ts'

export function monitoringRoutes(
  monitoring: Monitoring,
  agentRecords: Pick<AgentRecords, 'byId' | 'byName'>,
): Route[] {
  return [
    signedInRoute(getMonitoringStatus, ({ caller }) => monitoring.status(caller)),
    route(getMonitoringConfig, async () => monitoring.settings.config()),
    route(putMonitoringConfig, async ({ body, request }) => {
      request.note(body)
      await monitoring.settings.put(body)
      return monitoring.settings.config()
    }),
    agentRoute(getAgentHealth, async ({ agent }) =>
      monitoring.detail(await requireAgent(agentRecords, agent.id)),
    ),
    agentRoute(listHealthChecks, ({ agent, query }) => monitoring.history(agent.id, query)),
    signedInRoute(checkAgentHealth, async ({ params, request }) => {
      const agent = await agentRecords.byName(params.name)
      if (!agent) throw new Fault('agent_not_found')
      const found = await monitoring.check(agent)
      request.note({ status: found.aggregate_status })
      return found
    }),
  ]
}
