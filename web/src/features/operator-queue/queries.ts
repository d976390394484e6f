import type { Client } from '@roost/contracts/client'
import {
  type ItemStatus,
  listQueue,
  type QueueQuery,
  type resolved,
} from '@roost/contracts/operations/operator-queue'
import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { queueKey } from './stats-query.ts'

export { queueKey } from './stats-query.ts'

export const pageSize = 100

export type QueueFilter = {
  /** `resolved`: all but pending; `all`: any status. */
  status: ItemStatus | typeof resolved | 'all'
  type?: QueueQuery['type']
  priority?: QueueQuery['priority']
  agent?: string | undefined
  /** From 1. */
  page: number
}

export const queueQuery = (api: Client, { status, type, priority, agent, page }: QueueFilter) =>
  queryOptions({
    queryKey: [...queueKey, 'list', { status, type, priority, agent, page }],
    queryFn: ({ signal }) =>
      api.call(listQueue, {
        query: {
          limit: String(pageSize),
          offset: String((page - 1) * pageSize),
          order: 'urgent',
          ...(status === 'all' ? {} : { status }),
          ...(type ? { type } : {}),
          ...(priority ? { priority } : {}),
          ...(agent ? { agent_name: agent } : {}),
        },
        signal,
      }),
    placeholderData: keepPreviousData,
  })
