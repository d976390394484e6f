import type { Client } from '@roost/contracts/client'
import { listKeys } from '@roost/contracts/identity/keys'
import { queryOptions } from '@tanstack/react-query'

export const keysKey = ['keys'] as const

/** The person's own keys; an admin may ask for those of everybody. */
export const keysQuery = (api: Client, { all }: { all: boolean }) =>
  queryOptions({
    queryKey: [...keysKey, { all }],
    queryFn: ({ signal }) => api.call(listKeys, { query: all ? { all: 'true' } : {}, signal }),
  })
