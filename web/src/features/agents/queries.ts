import { getContextStats } from '@roost/contracts/agents/health'
import { getAgent, listAgents } from '@roost/contracts/agents/registry'
import type { Client } from '@roost/contracts/client'
import { queryOptions } from '@tanstack/react-query'

/** Keys begin with what they show; `live/stale.ts` names their prefixes. */
export const agentKeys = {
  list: ['agents', 'list'] as const,
  figures: ['agents', 'figures'] as const,
  details: (name: string) => ['agent', name, 'details'] as const,
  settings: (name: string) => ['agent', name, 'settings'] as const,
}

/** Every agent that the person reaches. */
export const agentsQuery = (api: Client) =>
  queryOptions({
    queryKey: agentKeys.list,
    queryFn: ({ signal }) => api.call(listAgents, { query: {}, signal }),
  })

export const agentQuery = (api: Client, name: string) =>
  queryOptions({
    queryKey: agentKeys.details(name),
    queryFn: ({ signal }) => api.call(getAgent, { params: { name }, signal }),
  })

/** Context use and activity of all agents. */
export const contextStatsQuery = (api: Client) =>
  queryOptions({
    queryKey: [...agentKeys.figures, 'context'],
    queryFn: ({ signal }) => api.call(getContextStats, { signal }),
  })
