import type { Client } from '@roost/contracts/client'
import { countNotifications } from '@roost/contracts/operations/notification-count'
import { queryOptions } from '@tanstack/react-query'
import { staleOn } from '../../live/stale.ts'

export const notificationKey = ['notifications'] as const

staleOn(['agent_notification', 'notifications_cleared'], notificationKey)

/** The number of new notifications. */
export const pendingCountQuery = (api: Client) =>
  queryOptions({
    queryKey: [...notificationKey, 'count'],
    queryFn: ({ signal }) => api.call(countNotifications, { query: {}, signal }),
  })
