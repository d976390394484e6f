import type { Client } from '@roost/contracts/client'
import { getPaidChat, listPayments } from '@roost/contracts/conversations/paid'
import { queryOptions } from '@tanstack/react-query'
import { ofAgentWhenTriggeredBy, runEvents, staleOn } from '../../live/stale.ts'
import { agentKeys } from '../agents/queries.ts'

/** Part of the agent's settings, so that changes made elsewhere appear here too. */
export const paidChatKey = (name: string) => [...agentKeys.settings(name), 'paid'] as const
export const paymentsKey = (name: string) => ['agent', name, 'payments'] as const

staleOn(runEvents, ofAgentWhenTriggeredBy(['paid'], paymentsKey))

/** The price of a message; owner and admins only. */
export const paidChatQuery = (api: Client, name: string) =>
  queryOptions({
    queryKey: paidChatKey(name),
    queryFn: ({ signal }) => api.call(getPaidChat, { params: { name }, signal }),
  })

/** The newest payments. */
export const paymentsQuery = (api: Client, name: string) =>
  queryOptions({
    queryKey: paymentsKey(name),
    queryFn: ({ signal }) => api.call(listPayments, { params: { name }, query: {}, signal }),
  })
