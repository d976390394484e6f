import { listAccess } from '@roost/contracts/agents/sharing'
import type { Client } from '@roost/contracts/client'
import { queryOptions } from '@tanstack/react-query'
import { agentKeys } from '../agents/queries.ts'

/** Among what an agent is set to, so that what is shared elsewhere shows here too. */
export const accessKey = (name: string) => [...agentKeys.settings(name), 'access'] as const

/** Who may use an agent; for its owner and admins. */
export const accessQuery = (api: Client, name: string) =>
  queryOptions({
    queryKey: accessKey(name),
    queryFn: ({ signal }) => api.call(listAccess, { params: { name }, signal }),
  })
