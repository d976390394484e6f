import { getCosts } from '@roost/contracts/runs/costs'
import {
  getExecutionNeighbours,
  getExecutionStats,
  getExecutionTrace,
  getFleetErrors,
  getFleetSlots,
  getFleetStats,
  getFleetTimeline,
  listExecutions,
} from '@roost/contracts/runs/fleet-executions'
import { answer, type Route, signedInRoute, streamAnswer } from '../../http/route.ts'
import type { FleetCosts } from './costs.ts'
import { costsFile } from './costs-rules.ts'
import type { FleetExecutions } from './service.ts'

export function fleetExecutionRoutes(fleet: FleetExecutions, costs: FleetCosts): Route[] {
  return [
    signedInRoute(listExecutions, async ({ caller, query }) => {
      const { rows, total } = await fleet.list(caller, query)
      return answer(rows, { headers: { 'x-total-count': String(total) } })
    }),
    signedInRoute(getFleetStats, ({ caller, query }) => fleet.stats(caller, query)),
    signedInRoute(getFleetErrors, ({ caller, query }) => fleet.errors(caller, query)),
    signedInRoute(getFleetTimeline, ({ caller, query }) => fleet.timeline(caller, query)),
    signedInRoute(getExecutionStats, ({ caller, query }) => fleet.byAgent(caller, query)),
    signedInRoute(getCosts, async ({ caller, query: { format, ...query } }) => {
      const found = await costs.of(caller, query)
      if (format === 'json') return found
      const name = `roost-costs-${found.from}-${found.to}.csv`
      return streamAnswer('text/csv; charset=utf-8', costsFile(found), {
        headers: { 'content-disposition': `attachment; filename="${name}"` },
      })
    }),
    signedInRoute(getExecutionTrace, ({ caller, params }) => fleet.trace(caller, params.id)),
    signedInRoute(getExecutionNeighbours, ({ caller, params, query }) =>
      fleet.neighbours(caller, params.id, query),
    ),
    signedInRoute(getFleetSlots, ({ caller }) => fleet.slots(caller)),
  ]
}
