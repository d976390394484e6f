import type { Client } from '@roost/contracts/client'
import { getSlack, getSlackChannel } from '@roost/contracts/conversations/slack'
import { queryOptions } from '@tanstack/react-query'

export const slackKeys = {
  connection: ['settings', 'slack'] as const,
  channel: (name: string) => ['agent', name, 'slack'] as const,
}

/** Admins only. */
export const slackQuery = (api: Client) =>
  queryOptions({
    queryKey: slackKeys.connection,
    queryFn: ({ signal }) => api.call(getSlack, { signal }),
  })

/** Owner and admins only. */
export const slackChannelQuery = (api: Client, name: string) =>
  queryOptions({
    queryKey: slackKeys.channel(name),
    queryFn: ({ signal }) => api.call(getSlackChannel, { params: { name }, signal }),
  })
