import type { Client } from '@roost/contracts/client'
import { listUsers } from '@roost/contracts/identity/people'
import { queryOptions } from '@tanstack/react-query'

export const peopleKey = ['people'] as const

/** All accounts; admins only. */
export const peopleQuery = (api: Client) =>
  queryOptions({ queryKey: peopleKey, queryFn: ({ signal }) => api.call(listUsers, { signal }) })
