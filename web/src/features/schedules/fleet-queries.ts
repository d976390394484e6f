import type { Client } from '@roost/contracts/client'
import { getSchedulerStatus } from '@roost/contracts/triggers/firing'
import { listDeletedSchedules, listFleetSchedules } from '@roost/contracts/triggers/schedule-admin'
import { queryOptions } from '@tanstack/react-query'
import { scheduleKeys } from './queries.ts'

export const fleetSchedulesQuery = (api: Client) =>
  queryOptions({
    queryKey: [...scheduleKeys.fleet, 'list'],
    queryFn: ({ signal }) => api.call(listFleetSchedules, { query: {}, signal }),
  })

export const deletedSchedulesQuery = (api: Client) =>
  queryOptions({
    queryKey: [...scheduleKeys.fleet, 'deleted'],
    queryFn: ({ signal }) => api.call(listDeletedSchedules, { signal }),
  })

export const schedulerStatusQuery = (api: Client) =>
  queryOptions({
    queryKey: [...scheduleKeys.fleet, 'status'],
    queryFn: ({ signal }) => api.call(getSchedulerStatus, { signal }),
  })
