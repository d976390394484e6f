import {
  getAuthReport,
  getFleetCosts,
  getFleetHealth,
  getFleetStatus,
} from '@roost/contracts/operations/fleet'
import { emergencyStop, restartFleet, stopFleet } from '@roost/contracts/operations/fleet-acts'
import { type Route, route, signedInRoute } from '../../http/route.ts'
import type { BulkActions } from './service.ts'

export function bulkActionRoutes(fleet: BulkActions): Route[] {
  return [
    route(getFleetStatus, () => fleet.status()),
    route(getFleetHealth, () => fleet.health()),
    route(getFleetCosts, ({ query }) => fleet.costs(query.hours)),
    route(getAuthReport, () => fleet.authReport()),
    route(restartFleet, async ({ body, request }) => {
      request.note(body)
      const outcome = await fleet.acts.restart(body)
      request.note(outcome.summary)
      return outcome
    }),
    route(stopFleet, async ({ body, request }) => {
      request.note(body)
      const outcome = await fleet.acts.stop(body)
      request.note(outcome.summary)
      return outcome
    }),
    signedInRoute(emergencyStop, async ({ caller, body, request }) => {
      const agent_name = body.agent_name ?? null
      const stopped = await fleet.emergencyStop(caller, agent_name)
      const { schedules_paused, executions_cancelled, agents_stopped, errors } = stopped
      const counts = { schedules_paused, executions_cancelled, agents_stopped }
      request.note({ agent_name, ...counts, failures: errors.length })
      return stopped
    }),
  ]
}
