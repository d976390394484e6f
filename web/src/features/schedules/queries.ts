import { type Client, errorOf } from '@roost/contracts/client'
import type { ExecutionSummary } from '@roost/contracts/runs/executions'
import { listFires } from '@roost/contracts/triggers/firing'
import { getScheduleAnalytics, getScheduleSummary } from '@roost/contracts/triggers/schedule-analytics'
import {
  getSchedule,
  listNextRuns,
  listScheduleExecutions,
  listSchedules,
} from '@roost/contracts/triggers/schedules'
import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { ofAgent, staleOn } from '../../live/stale.ts'

export const scheduleKeys = {
  fleet: ['schedules'] as const,
  ofAgent: (name: string) => ['agent', name, 'schedules'] as const,
  list: (name: string) => [...scheduleKeys.ofAgent(name), 'list'] as const,
  one: (name: string, id: string) => [...scheduleKeys.ofAgent(name), id] as const,
}

staleOn(['schedule_*'], scheduleKeys.fleet, ofAgent(scheduleKeys.ofAgent))

export const schedulesQuery = (api: Client, name: string) =>
  queryOptions({
    queryKey: scheduleKeys.list(name),
    queryFn: ({ signal }) => api.call(listSchedules, { params: { name }, signal }),
  })

/** Statistics of the last week for every schedule of an agent. */
export const scheduleSummaryQuery = (api: Client, name: string) =>
  queryOptions({
    queryKey: [...scheduleKeys.ofAgent(name), 'summary'],
    queryFn: ({ signal }) =>
      api.call(getScheduleSummary, { params: { name }, query: { window: '7d' }, signal }),
  })

export const scheduleQuery = (api: Client, name: string, id: string) =>
  queryOptions({
    queryKey: [...scheduleKeys.one(name, id), 'details'],
    queryFn: ({ signal }) => api.call(getSchedule, { params: { name, id }, signal }),
  })

export const nextRunsQuery = (api: Client, name: string, id: string) =>
  queryOptions({
    queryKey: [...scheduleKeys.one(name, id), 'next'],
    queryFn: ({ signal }) => api.call(listNextRuns, { params: { name, id }, query: { count: '5' }, signal }),
  })

export type Hours = '24' | '168' | '720'

export const scheduleAnalyticsQuery = (api: Client, name: string, id: string, hours: Hours) =>
  queryOptions({
    queryKey: [...scheduleKeys.one(name, id), 'analytics', hours],
    queryFn: ({ signal }) =>
      api.call(getScheduleAnalytics, { params: { name, id }, query: { window_hours: hours }, signal }),
    placeholderData: keepPreviousData,
  })

export const firesMost = 200

export const firesQuery = (api: Client, name: string, id: string) =>
  queryOptions({
    queryKey: [...scheduleKeys.one(name, id), 'fires'],
    queryFn: ({ signal }) =>
      api.call(listFires, { params: { name, id }, query: { limit: String(firesMost) }, signal }),
  })

/** Rows per page. */
export const runsPageSize = 50

export const scheduleRunsQuery = (
  api: Client,
  { name, id, page, withValidations }: { name: string; id: string; page: number; withValidations: boolean },
) =>
  queryOptions({
    queryKey: [...scheduleKeys.one(name, id), 'runs', page, withValidations],
    queryFn: async ({ signal }) => {
      // The total is in a header, which the plain client does not return.
      const response = await api.open(listScheduleExecutions, {
        params: { name, id },
        query: {
          limit: String(runsPageSize),
          offset: String((page - 1) * runsPageSize),
          ...(withValidations ? { include: 'validations' as const } : {}),
        },
        signal,
      })
      if (!response.ok) throw await errorOf(response)
      // The platform guarantees the shape of its reply.
      const rows = (await response.json()) as ExecutionSummary[]
      return { rows, total: Number(response.headers.get('x-total-count') ?? rows.length) }
    },
    placeholderData: keepPreviousData,
  })
