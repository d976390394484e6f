import type { Client } from '@roost/contracts/client'
import { listPlaybooks } from '@roost/contracts/runs/playbooks'
import { queryOptions } from '@tanstack/react-query'

/** The skills of the workspace that users can run, by name. */
export const playbooksQuery = (api: Client, name: string) =>
  queryOptions({
    queryKey: ['agent', name, 'playbooks'] as const,
    queryFn: async ({ signal }) => (await api.call(listPlaybooks, { params: { name }, signal })).playbooks,
  })
