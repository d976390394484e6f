import type { Client } from '@roost/contracts/client'
import { listAlerts } from '@roost/contracts/operations/alerts'
import { getAuthReport, getFleetCosts } from '@roost/contracts/operations/fleet'
import { getAgentHealth, getMonitoringStatus, listHealthChecks } from '@roost/contracts/operations/monitoring'
import { listReplicas } from '@roost/contracts/operations/replicas'
import { queryOptions } from '@tanstack/react-query'
import { staleOn } from '../../live/stale.ts'

export const monitoringKey = ['monitoring'] as const

const alertsKey = [...monitoringKey, 'alerts'] as const

staleOn(['agent_health_changed'], monitoringKey)
staleOn(['operator_queue_*'], alertsKey)

/** Polling interval in ms: no event reports heartbeats and memory. */
const refreshMs = 30_000
/** A replica is silent after three missed heartbeats. */
const heartbeatMs = 5_000

export const healthQuery = (api: Client) =>
  queryOptions({
    queryKey: [...monitoringKey, 'status'],
    queryFn: ({ signal }) => api.call(getMonitoringStatus, { signal }),
    refetchInterval: refreshMs,
  })

/** Pending alerts that nobody has acknowledged. */
export const alertsQuery = (api: Client) =>
  queryOptions({
    queryKey: alertsKey,
    queryFn: ({ signal }) => api.call(listAlerts, { query: { status: 'pending' }, signal }),
  })

/** The cost of the runs of the last 24 hours. No event reports its changes. */
export const costsQuery = (api: Client) =>
  queryOptions({
    queryKey: [...monitoringKey, 'costs'],
    queryFn: ({ signal }) => api.call(getFleetCosts, { query: {}, signal }),
    refetchInterval: refreshMs,
  })

export const authReportQuery = (api: Client) =>
  queryOptions({
    queryKey: [...monitoringKey, 'auth-report'],
    queryFn: ({ signal }) => api.call(getAuthReport, { signal }),
  })

/** The processes of the installation. No event reports their heartbeats. */
export const replicasQuery = (api: Client) =>
  queryOptions({
    queryKey: [...monitoringKey, 'replicas'],
    queryFn: ({ signal }) => api.call(listReplicas, { signal }),
    refetchInterval: heartbeatMs,
  })

export const agentHealthQuery = (api: Client, name: string) =>
  queryOptions({
    queryKey: [...monitoringKey, 'agent', name],
    queryFn: ({ signal }) => api.call(getAgentHealth, { params: { name }, signal }),
    refetchInterval: refreshMs,
  })

/** The checks of the last day, newest first. */
export const healthChecksQuery = (api: Client, name: string) =>
  queryOptions({
    queryKey: [...monitoringKey, 'agent', name, 'checks'],
    queryFn: ({ signal }) =>
      api.call(listHealthChecks, { params: { name }, query: { limit: '2000' }, signal }),
    refetchInterval: 10 * refreshMs,
  })
