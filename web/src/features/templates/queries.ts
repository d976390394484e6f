import { listTemplates } from '@roost/contracts/agents/templates'
import type { Client } from '@roost/contracts/client'
import { queryOptions } from '@tanstack/react-query'

export const templatesQuery = (api: Client) =>
  queryOptions({
    queryKey: ['templates'],
    queryFn: ({ signal }) => api.call(listTemplates, { signal }),
    staleTime: 60_000,
  })
