import type { Client } from '@roost/contracts/client'
import { countNotifications } from '@roost/contracts/operations/notification-count'
import { queryOptions } from '@tanstack/react-query'

/** Keys begin with their subject; `live/stale.ts` names their prefixes. */
export const notificationKey = ['notifications'] as const

/** The number of new notifications. */
export const pendingCountQuery = (api: Client) =>
  queryOptions({
    queryKey: [...notificationKey, 'count'],
    queryFn: ({ signal }) => api.call(countNotifications, { query: {}, signal }),
  })
