import type { Client } from '@roost/contracts/client'
import { countNotifications } from '@roost/contracts/operations/notification-count'
import { queryOptions } from '@tanstack/react-query'

/** Keys begin with what they show; `live/stale.ts` names their prefixes. */
export const notificationKey = ['notifications'] as const

/** How many nobody has read or put away. */
export const pendingCountQuery = (api: Client) =>
  queryOptions({
    queryKey: [...notificationKey, 'count'],
    queryFn: ({ signal }) => api.call(countNotifications, { query: {}, signal }),
  })
