import type { Client } from '@roost/contracts/client'
import { getContainersTelemetry, getHostTelemetry } from '@roost/contracts/operations/telemetry'
import { queryOptions } from '@tanstack/react-query'

/**
 * The platform samples these figures every 10 seconds and tells no event of them: while they are looked at
 * they are asked for as often. In a hidden tab they are not.
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
