import type { Client } from '@roost/contracts/client'
import { getQueueStats } from '@roost/contracts/operations/queue-stats'
import { queryOptions } from '@tanstack/react-query'

/** Keys begin with their subject; `live/stale.ts` names their prefixes. */
export const queueKey = ['operator-queue'] as const

export const queueStatsQuery = (api: Client) =>
  queryOptions({
    queryKey: [...queueKey, 'stats'],
    queryFn: ({ signal }) => api.call(getQueueStats, { signal }),
  })
