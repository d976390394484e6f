import { getAgentKey } from '@roost/contracts/agents/mcp-key'
import type { Client } from '@roost/contracts/client'
import { queryOptions } from '@tanstack/react-query'
import { agentKeys } from '../agents/queries.ts'

export const ownKeyKey = (name: string) => [...agentKeys.settings(name), 'own-key'] as const

/** How the agent's own key is; for its owner and admins at the browser. */
export const ownKeyQuery = (api: Client, name: string) =>
  queryOptions({
    queryKey: ownKeyKey(name),
    queryFn: ({ signal }) => api.call(getAgentKey, { params: { name }, signal }),
  })
