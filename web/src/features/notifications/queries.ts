import { type Client, errorOf } from '@roost/contracts/client'
import {
  listNotifications,
  type Notification,
  type NotificationPriority,
  type NotificationStatus,
} from '@roost/contracts/operations/notifications'
import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { notificationKey } from './count-query.ts'

export { notificationKey } from './count-query.ts'

export const pageSize = 50

export type NotificationFilter = {
  /** `all`: any status. */
  status: NotificationStatus | 'all'
  priority?: NotificationPriority | undefined
  agent?: string | undefined
  /** From 1. */
  page: number
}

export type NotificationPage = { rows: Notification[]; total: number }

export const notificationsQuery = (api: Client, filter: NotificationFilter) =>
  queryOptions({
    queryKey: [...notificationKey, 'list', filter],
    queryFn: ({ signal }) => fetchPage(api, filter, signal),
    placeholderData: keepPreviousData,
  })

async function fetchPage(
  api: Client,
  { status, priority, agent, page }: NotificationFilter,
  signal: AbortSignal,
): Promise<NotificationPage> {
  // The total is in a header, which the plain client does not return.
  const response = await api.open(listNotifications, {
    query: {
      limit: String(pageSize),
      offset: String((page - 1) * pageSize),
      ...(status === 'all' ? {} : { status }),
      ...(priority ? { priority } : {}),
      ...(agent ? { agent_name: agent } : {}),
    },
    signal,
  })
  if (!response.ok) throw await errorOf(response)
  // The platform guarantees the shape of its reply.
  const { notifications: rows } = (await response.json()) as { notifications: Notification[] }
  return { rows, total: Number(response.headers.get('x-total-count') ?? rows.length) }
}
