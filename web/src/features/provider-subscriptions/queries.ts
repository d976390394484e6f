import type { Client } from '@roost/contracts/client'
import {
  getAgentAuth,
  getSubscriptionUsage,
  listSubscriptions,
} from '@roost/contracts/runs/provider-subscriptions'
import { queryOptions } from '@tanstack/react-query'
import { staleOn } from '../../live/stale.ts'
import { agentKeys } from '../agents/queries.ts'

export const subscriptionKeys = {
  all: ['provider-subscriptions'] as const,
  usage: (id: string) => ['provider-subscriptions', 'usage', id] as const,
}

staleOn(['agent_settings_changed'], subscriptionKeys.all)

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
    queryKey: [...agentKeys.settings(name), 'auth'] as const,
    queryFn: ({ signal }) => api.call(getAgentAuth, { params: { name }, signal }),
  })
