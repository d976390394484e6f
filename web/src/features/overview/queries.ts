import { getAgentActivity } from '@roost/contracts/agents/health'
import type { Client } from '@roost/contracts/client'
import { type AnalyticsWindow, getAnalytics, getTokenStats } from '@roost/contracts/runs/analytics'
import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { ofAgent, staleOn } from '../../live/stale.ts'
import { runKeys } from '../executions/queries.ts'

const activityKey = (name: string) => ['agent', name, 'activity'] as const

staleOn(['agent_activity'], ofAgent(activityKey))

/** Run statistics change when a run ends, so they share the key of the agent's runs. */
export const analyticsQuery = (api: Client, name: string, window: AnalyticsWindow) =>
  queryOptions({
    queryKey: [...runKeys.ofAgent(name), 'analytics', window],
    queryFn: ({ signal }) => api.call(getAnalytics, { params: { name }, query: { window }, signal }),
    placeholderData: keepPreviousData,
  })

export const tokenStatsQuery = (api: Client, name: string) =>
  queryOptions({
    queryKey: [...runKeys.ofAgent(name), 'tokens'],
    queryFn: ({ signal }) => api.call(getTokenStats, { params: { name }, signal }),
  })

/** The latest tool calls of the agent. */
export const activityQuery = (api: Client, name: string) =>
  queryOptions({
    queryKey: activityKey(name),
    queryFn: ({ signal }) => api.call(getAgentActivity, { params: { name }, signal }),
  })
