import { getAgentKey } from '@roost/contracts/agents/mcp-key'
import type { Client } from '@roost/contracts/client'
import { queryOptions } from '@tanstack/react-query'
import { agentKeys } from '../agents/queries.ts'

export const ownKeyKey = (name: string) => [...agentKeys.settings(name), 'own-key'] as const

/** The state of the agent's key; owner and admins only. */
export const ownKeyQuery = (api: Client, name: string) =>
  queryOptions({
    queryKey: ownKeyKey(name),
    queryFn: ({ signal }) => api.call(getAgentKey, { params: { name }, signal }),
  })
