import type { Client } from '@roost/contracts/client'
import { getContainersTelemetry, getHostTelemetry } from '@roost/contracts/operations/telemetry'
import { queryOptions } from '@tanstack/react-query'

/**
 * Polling interval: the platform samples these metrics every 10 s and sends no events. No polling in a hidden
 * tab.
 */
const samplePeriodMs = 10_000

export const hostQuery = (api: Client) =>
  queryOptions({
    queryKey: ['telemetry', 'host'],
    queryFn: ({ signal }) => api.call(getHostTelemetry, { signal }),
    refetchInterval: samplePeriodMs,
  })

export const containersQuery = (api: Client) =>
  queryOptions({
    queryKey: ['telemetry', 'containers'],
    queryFn: ({ signal }) => api.call(getContainersTelemetry, { signal }),
    refetchInterval: samplePeriodMs,
  })
