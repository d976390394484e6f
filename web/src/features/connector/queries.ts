import { getConnector } from '@roost/contracts/agents/connector'
import type { Client } from '@roost/contracts/client'
import { queryOptions } from '@tanstack/react-query'
import { agentKeys } from '../agents/queries.ts'

export const connectorKey = (name: string) => [...agentKeys.settings(name), 'connector'] as const

/** The connector settings; owner and admins only. */
export const connectorQuery = (api: Client, name: string) =>
  queryOptions({
    queryKey: connectorKey(name),
    queryFn: ({ signal }) => api.call(getConnector, { params: { name }, signal }),
  })
