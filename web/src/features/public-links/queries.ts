import type { Client } from '@roost/contracts/client'
import { listPublicLinks } from '@roost/contracts/conversations/public-links'
import { queryOptions } from '@tanstack/react-query'
import { ofAgent, ofAgentWhenTriggeredBy, runEvents, staleOn } from '../../live/stale.ts'

export const publicLinksKey = (name: string) => ['agent', name, 'public-links'] as const

staleOn(['public_link_*'], ofAgent(publicLinksKey))
staleOn(runEvents, ofAgentWhenTriggeredBy(['public'], publicLinksKey))

/** Owner and admins only. */
export const publicLinksQuery = (api: Client, name: string) =>
  queryOptions({
    queryKey: publicLinksKey(name),
    queryFn: ({ signal }) => api.call(listPublicLinks, { params: { name }, signal }),
  })
