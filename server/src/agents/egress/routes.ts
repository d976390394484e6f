import * as endpoints from '@roost/contracts/agents/egress'
import * as inner from '@roost/contracts/agents/inner-networks'
import { agentRoute, answer, type Route, route } from '../../http/route.ts'
import { Fault } from '../../kit/fault.ts'
import { type Agent, type AgentRecords, requireAgent } from '../records/index.ts'
import type { Authority } from './authority.ts'
import type { InnerNetworkFilter } from './inner-networks.ts'
import type { EgressService } from './service.ts'

export function egressRoutes(deps: {
  egress: EgressService & { innerNetworks: InnerNetworkFilter }
  agentRecords: Pick<AgentRecords, 'byId'>
  setMode(agent: Agent, mode: endpoints.EgressMode): Promise<Agent>
}): Route[] {
  const { egress, agentRecords, setMode } = deps
  const agentOf = ({ agent }: { agent: { id: string } }) => requireAgent(agentRecords, agent.id)
  return [
    agentRoute(endpoints.getAgentEgress, async (call) => egress.view(await agentOf(call))),
    agentRoute(endpoints.putAgentEgress, async (call) => {
      const { mode } = call.body
      call.request.note({ mode })
      const agent = await agentOf(call)
      // The system agent maintains the platform and must not be cut off.
      if (agent.is_system && mode !== 'off') throw new Fault('system_agent_protected')
      if (mode === 'enforce') await egress.refuseUnenforceable()
      return egress.view(await setMode(agent, mode))
    }),
    agentRoute(endpoints.allowEgress, async (call) => {
      call.request.note({ host: call.body.host, port: call.body.port ?? null })
      return egress.allow(await agentOf(call), call.body, call.caller)
    }),
    agentRoute(endpoints.disallowEgress, async (call) => {
      await egress.disallow(await agentOf(call), call.params.rule_id)
      return { success: true as const }
    }),
    agentRoute(endpoints.listEgressLog, async (call) => {
      const { rows, total } = await egress.log(await agentOf(call), call.query)
      return answer(rows, { headers: { 'x-total-count': String(total) } })
    }),
    agentRoute(endpoints.putEgressCredential, async (call) => {
      const { variable } = call.params
      call.request.note({ variable: variable.slice(0, 100), hosts: call.body.hosts })
      return egress.bind(await agentOf(call), variable, call.body)
    }),
    agentRoute(endpoints.deleteEgressCredential, async (call) => {
      call.request.note({ variable: call.params.variable.slice(0, 100) })
      await egress.unbind(await agentOf(call), call.params.variable)
      return { success: true as const }
    }),
    route(inner.getInnerNetworks, async () => egress.innerNetworks.view()),
    route(inner.putInnerNetworks, async ({ body, request }) => {
      request.note({ opened: body.opened })
      await egress.innerNetworks.put(body.opened)
      return egress.innerNetworks.view()
    }),
  ]
}

export function internalEgressRoutes(egress: {
  authority: Pick<Authority, 'view'>
  innerNetworks: Pick<InnerNetworkFilter, 'view'>
}): Route[] {
  return [
    route(endpoints.getInternalEgressAuthority, () => egress.authority.view()),
    route(inner.getInternalInnerNetworks, async () => egress.innerNetworks.view()),
  ]
}
