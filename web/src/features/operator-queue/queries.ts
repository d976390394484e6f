import type { Client } from '@roost/contracts/client'
import { type ItemStatus, listQueue, type QueueQuery } from '@roost/contracts/operations/operator-queue'
import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { queueKey } from './stats-query.ts'

export { queueKey } from './stats-query.ts'

/** Items that are shown at once. */
export const mostShown = 200

export type QueueFilter = {
  /** `all`: whatever became of them. */
  status: ItemStatus | 'all'
  type?: QueueQuery['type']
  priority?: QueueQuery['priority']
  agent?: string | undefined
}

export const queueQuery = (api: Client, { status, type, priority, agent }: QueueFilter) =>
  queryOptions({
    queryKey: [...queueKey, 'list', { status, type, priority, agent }],
    queryFn: ({ signal }) =>
      api.call(listQueue, {
        query: {
          limit: String(mostShown),
          ...(status === 'all' ? {} : { status }),
          ...(type ? { type } : {}),
          ...(priority ? { priority } : {}),
          ...(agent ? { agent_name: agent } : {}),
        },
        signal,
      }),
    placeholderData: keepPreviousData,
  })
