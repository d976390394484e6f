import { getStrangers } from '@roost/contracts/agents/settings'
import { listAccess } from '@roost/contracts/agents/sharing'
import type { Client } from '@roost/contracts/client'
import { queryOptions } from '@tanstack/react-query'
import { agentKeys } from '../agents/queries.ts'

/** Part of the agent's settings, so that changes made elsewhere appear here too. */
export const accessKey = (name: string) => [...agentKeys.settings(name), 'access'] as const

/** Users with access; owner and admins only. */
export const accessQuery = (api: Client, name: string) =>
  queryOptions({
    queryKey: accessKey(name),
    queryFn: ({ signal }) => api.call(listAccess, { params: { name }, signal }),
  })

export const strangersKey = (name: string) => [...agentKeys.settings(name), 'strangers'] as const

export const strangersQuery = (api: Client, name: string) =>
  queryOptions({
    queryKey: strangersKey(name),
    queryFn: ({ signal }) => api.call(getStrangers, { params: { name }, signal }),
  })
