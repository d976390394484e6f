import type { Client } from '@roost/contracts/client'
import { listKeys } from '@roost/contracts/identity/keys'
import { queryOptions } from '@tanstack/react-query'

export const keysKey = ['keys'] as const

/** The user's own keys. Admins can request all keys. */
export const keysQuery = (api: Client, { all }: { all: boolean }) =>
  queryOptions({
    queryKey: [...keysKey, { all }],
    queryFn: ({ signal }) => api.call(listKeys, { query: all ? { all: 'true' } : {}, signal }),
  })
