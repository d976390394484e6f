import type { Client } from '@roost/contracts/client'
import { listAlerts } from '@roost/contracts/operations/alerts'
import { getFleetCosts } from '@roost/contracts/operations/fleet'
import { getMonitoringStatus } from '@roost/contracts/operations/monitoring'
import { queryOptions } from '@tanstack/react-query'

/** Keys begin with what they show; `live/stale.ts` names their prefixes. */
export const monitoringKey = ['monitoring'] as const

/** Beats and memory change without an event: while they are looked at they are asked for as often, in ms. */
const lookAgainMs = 30_000

export const healthQuery = (api: Client) =>
  queryOptions({
    queryKey: [...monitoringKey, 'status'],
    queryFn: ({ signal }) => api.call(getMonitoringStatus, { signal }),
    refetchInterval: lookAgainMs,
  })

/** What the platform has told operators and nobody has taken up. */
export const alertsQuery = (api: Client) =>
  queryOptions({
    queryKey: [...monitoringKey, 'alerts'],
    queryFn: ({ signal }) => api.call(listAlerts, { query: { status: 'pending' }, signal }),
  })

/** What the runs of the last 24 hours cost; it grows with each of them, without an event of its own. */
export const costsQuery = (api: Client) =>
  queryOptions({
    queryKey: [...monitoringKey, 'costs'],
    queryFn: ({ signal }) => api.call(getFleetCosts, { query: {}, signal }),
    refetchInterval: lookAgainMs,
  })
