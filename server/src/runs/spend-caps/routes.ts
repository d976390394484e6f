import { getSpendCap, putSpendCap } from '@roost/contracts/runs/spend-caps'
import { agentRoute, type Route } from '../../http/route.ts'
import type { SpendCaps } from './service.ts'

export function spendCapRoutes(caps: Pick<SpendCaps, 'view' | 'change'>): Route[] {
  return [
    agentRoute(getSpendCap, ({ agent }) => caps.view(agent)),
    agentRoute(putSpendCap, async ({ agent, body, request }) => {
      request.note({ ...body })
      return caps.change(agent, body)
    }),
  ]
}
