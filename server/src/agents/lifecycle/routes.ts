import { startAgent, stopAgent } from '@roost/contracts/agents/lifecycle'
import { agentRoute, type Route } from '../../http/route.ts'
import type { Lifecycle } from './service.ts'

export function lifecycleRoutes(lifecycle: Pick<Lifecycle, 'start' | 'stop'>): Route[] {
  return [
    agentRoute(startAgent, async ({ agent, request }) => {
      const reply = await lifecycle.start(agent.id)
      request.note({ recreated: reply.recreated })
      return reply
    }),
    agentRoute(stopAgent, ({ agent }) => lifecycle.stop(agent.id)),
  ]
}
