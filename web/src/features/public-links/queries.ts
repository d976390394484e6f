import type { Client } from '@roost/contracts/client'
import { listPublicLinks } from '@roost/contracts/conversations/public-links'
import { queryOptions } from '@tanstack/react-query'

/** Keys begin with what they show; `live/stale.ts` names their prefixes. */
export const publicLinksKey = (name: string) => ['agent', name, 'public-links'] as const

/** For the owner of the agent and admins. */
export const publicLinksQuery = (api: Client, name: string) =>
  queryOptions({
    queryKey: publicLinksKey(name),
    queryFn: ({ signal }) => api.call(listPublicLinks, { params: { name }, signal }),
  })
