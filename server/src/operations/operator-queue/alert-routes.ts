import { acknowledgeAlert, listAlerts } from '@roost/contracts/operations/alerts'
import { type Route, route, signedInRoute } from '../../http/route.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import type { OperatorQueue } from './service.ts'

export function alertRoutes({ alerts, view }: OperatorQueue, clock: Pick<Clock, 'now'>): Route[] {
  return [
    route(listAlerts, async ({ query }) => {
      const found = await alerts.list(query)
      return { timestamp: timestamp(clock.now()), alerts: found, count: found.length }
    }),
    signedInRoute(acknowledgeAlert, async ({ caller, params, request }) => {
      const row = await view.findOwn(caller, params.id)
      if (row.source !== 'platform') throw new Fault('not_found', 'There is no such alert.')
      request.note({ kind: row.kind })
      const { user } = caller
      return alerts.acknowledge(row, { id: user.id, email: user.email })
    }),
  ]
}
