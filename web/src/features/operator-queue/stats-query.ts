import type { Client } from '@roost/contracts/client'
import { getQueueStats } from '@roost/contracts/operations/queue-stats'
import { queryOptions } from '@tanstack/react-query'
import { staleOn } from '../../live/stale.ts'

export const queueKey = ['operator-queue'] as const

staleOn(['operator_queue_*'], queueKey)

export const queueStatsQuery = (api: Client) =>
  queryOptions({
    queryKey: [...queueKey, 'stats'],
    queryFn: ({ signal }) => api.call(getQueueStats, { signal }),
  })
