import type { Client } from '@roost/contracts/client'
import { listAgentEvents, listEventSubscriptions } from '@roost/contracts/triggers/events'
import { queryOptions } from '@tanstack/react-query'

/** Keys begin with their subject; `live/stale.ts` names their prefixes. */
export const eventKeys = {
  ofAgent: (name: string) => ['agent', name, 'events'] as const,
}

export type Direction = 'subscriber' | 'source'

export const subscriptionsQuery = (api: Client, name: string, direction: Direction) =>
  queryOptions({
    queryKey: [...eventKeys.ofAgent(name), 'subscriptions', direction],
    queryFn: async ({ signal }) => {
      const query = { direction, limit: '500' }
      return (await api.call(listEventSubscriptions, { params: { name }, query, signal })).subscriptions
    },
  })

export const maxEvents = 100

export const eventsQuery = (api: Client, name: string) =>
  queryOptions({
    queryKey: [...eventKeys.ofAgent(name), 'log'],
    queryFn: async ({ signal }) => {
      const query = { limit: String(maxEvents) }
      return (await api.call(listAgentEvents, { params: { name }, query, signal })).events
    },
  })
