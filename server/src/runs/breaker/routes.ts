import { getCircuitBreaker, putCircuitBreaker, resetCircuitBreaker } from '@roost/contracts/runs/breaker'
import { type AgentRecords, requireAgent } from '../../agents/records/index.ts'
import type { Settings } from '../../agents/settings/index.ts'
import { agentRoute, type Route, signedInRoute } from '../../http/route.ts'
import { Fault } from '../../kit/fault.ts'
import type { Breakers } from './service.ts'

export function breakerRoutes(deps: {
  breakers: Pick<Breakers, 'view' | 'reset'>
  agentRecords: Pick<AgentRecords, 'byId' | 'byName'>
  settings: Pick<Settings, 'change'>
}): Route[] {
  const { breakers, agentRecords, settings } = deps
  return [
    agentRoute(getCircuitBreaker, async (call) =>
      breakers.view(await requireAgent(agentRecords, call.agent.id)),
    ),
    agentRoute(putCircuitBreaker, async (call) => {
      const { enabled } = call.body
      call.request.note({ enabled })
      const agent = await requireAgent(agentRecords, call.agent.id)
      const patch = { circuit_breaker_enabled: enabled ? 1 : 0 }
      return breakers.view((await settings.change(agent, 'circuit-breaker', patch)).agent)
    }),
    signedInRoute(resetCircuitBreaker, async (call) => {
      const agent = await agentRecords.byName(call.params.name)
      if (!agent) throw new Fault('agent_not_found')
      const { prior_dispatch_state, prior_transport_state, ...rest } = await breakers.reset(agent)
      call.request.note({ prior_dispatch_state, prior_transport_state })
      return { ...rest, prior_dispatch_state, prior_transport_state }
    }),
  ]
}
