import {
  getExecutionStats,
  getFleetSlots,
  getFleetStats,
  getFleetTimeline,
  listExecutions,
} from '@roost/contracts/runs/fleet-executions'
import { answer, type Route, signedInRoute } from '../../http/route.ts'
import type { FleetExecutions } from './service.ts'

export function fleetExecutionRoutes(fleet: FleetExecutions): Route[] {
  return [
    signedInRoute(listExecutions, async ({ caller, query }) => {
      const { rows, total } = await fleet.list(caller, query)
      return answer(rows, { headers: { 'x-total-count': String(total) } })
    }),
    signedInRoute(getFleetStats, ({ caller, query }) => fleet.stats(caller, query)),
    signedInRoute(getFleetTimeline, ({ caller, query }) => fleet.timeline(caller, query)),
    signedInRoute(getExecutionStats, ({ caller, query }) => fleet.byAgent(caller, query)),
    signedInRoute(getFleetSlots, ({ caller }) => fleet.slots(caller)),
  ]
}
