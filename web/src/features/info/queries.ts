import { getAgentInfo } from '@roost/contracts/agents/registry'
import type { Client } from '@roost/contracts/client'
import { queryOptions } from '@tanstack/react-query'

/** The metadata of the agent's template. */
export const infoQuery = (api: Client, name: string) =>
  queryOptions({
    queryKey: ['agent', name, 'info'] as const,
    queryFn: ({ signal }) => api.call(getAgentInfo, { params: { name }, signal }),
  })
