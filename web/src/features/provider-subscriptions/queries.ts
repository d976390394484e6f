import type { Client } from '@roost/contracts/client'
import {
  getAgentAuth,
  getSubscriptionUsage,
  listSubscriptions,
} from '@roost/contracts/runs/provider-subscriptions'
import { queryOptions } from '@tanstack/react-query'

export const subscriptionKeys = {
  all: ['provider-subscriptions'] as const,
  usage: (id: string) => ['provider-subscriptions', 'usage', id] as const,
}

export const subscriptionsQuery = (api: Client) =>
  queryOptions({
    queryKey: [...subscriptionKeys.all, 'list'],
    queryFn: ({ signal }) => api.call(listSubscriptions, { signal }),
  })

export const subscriptionUsageQuery = (api: Client, id: string) =>
  queryOptions({
    queryKey: subscriptionKeys.usage(id),
    queryFn: ({ signal }) => api.call(getSubscriptionUsage, { params: { id }, signal }),
  })

export const agentAuthQuery = (api: Client, name: string) =>
  queryOptions({
    queryKey: ['agent', name, 'settings', 'auth'] as const,
    queryFn: ({ signal }) => api.call(getAgentAuth, { params: { name }, signal }),
  })
