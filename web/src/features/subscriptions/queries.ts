import type { Client } from '@roost/contracts/client'
import { listAgentEvents, listEventSubscriptions } from '@roost/contracts/triggers/events'
import { queryOptions } from '@tanstack/react-query'
import { ofAgent, staleOn } from '../../live/stale.ts'

export const eventKeys = {
  ofAgent: (name: string) => ['agent', name, 'events'] as const,
}

staleOn(['agent_event'], ofAgent(eventKeys.ofAgent))

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
