import { getAgentActivity } from '@roost/contracts/agents/health'
import type { Client } from '@roost/contracts/client'
import { type AnalyticsWindow, getAnalytics, getTokenStats } from '@roost/contracts/runs/analytics'
import { keepPreviousData, queryOptions } from '@tanstack/react-query'

/** Run statistics change when a run ends, so they share the key of the agent's runs. */
export const analyticsQuery = (api: Client, name: string, window: AnalyticsWindow) =>
  queryOptions({
    queryKey: ['agent', name, 'executions', 'analytics', window],
    queryFn: ({ signal }) => api.call(getAnalytics, { params: { name }, query: { window }, signal }),
    placeholderData: keepPreviousData,
  })

export const tokenStatsQuery = (api: Client, name: string) =>
  queryOptions({
    queryKey: ['agent', name, 'executions', 'tokens'],
    queryFn: ({ signal }) => api.call(getTokenStats, { params: { name }, signal }),
  })

/** The latest tool calls of the agent. */
export const activityQuery = (api: Client, name: string) =>
  queryOptions({
    queryKey: ['agent', name, 'activity'],
    queryFn: ({ signal }) => api.call(getAgentActivity, { params: { name }, signal }),
  })
