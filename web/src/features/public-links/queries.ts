import type { Client } from '@roost/contracts/client'
import { listPublicLinks } from '@roost/contracts/conversations/public-links'
import { queryOptions } from '@tanstack/react-query'

/** Keys begin with their subject; `live/stale.ts` names their prefixes. */
export const publicLinksKey = (name: string) => ['agent', name, 'public-links'] as const

/** Owner and admins only. */
export const publicLinksQuery = (api: Client, name: string) =>
  queryOptions({
    queryKey: publicLinksKey(name),
    queryFn: ({ signal }) => api.call(listPublicLinks, { params: { name }, signal }),
  })
