import type { Client } from '@roost/contracts/client'
import { listAllowListEntries } from '@roost/contracts/identity/allow-list'
import { queryOptions } from '@tanstack/react-query'

export const allowListKey = ['allow-list'] as const

/** The e-mail addresses that may sign in; admins only. */
export const allowListQuery = (api: Client) =>
  queryOptions({
    queryKey: allowListKey,
    queryFn: ({ signal }) => api.call(listAllowListEntries, { signal }),
  })
