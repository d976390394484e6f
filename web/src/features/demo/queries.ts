import type { Client } from '@roost/contracts/client'
import { getDemo } from '@roost/contracts/operations/demo'
import { queryOptions } from '@tanstack/react-query'

/** Time between two looks while the demo agents are created. */
const waitingMs = 3000

/** The demo data, for admins. */
export const demoQuery = (api: Client) =>
  queryOptions({
    queryKey: ['demo'],
    queryFn: ({ signal }) => api.call(getDemo, { signal }),
    refetchInterval: ({ state }) => (state.data?.state === 'waiting' ? waitingMs : false),
  })
