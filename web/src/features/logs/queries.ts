import { getAgentLogs } from '@roost/contracts/agents/registry'
import type { Client } from '@roost/contracts/client'
import { queryOptions } from '@tanstack/react-query'

/** The last `tail` lines of the container's output, also after it has stopped. */
export const logsQuery = (api: Client, name: string, tail: number) =>
  queryOptions({
    queryKey: ['agent', name, 'logs', tail] as const,
    queryFn: ({ signal }) =>
      api.call(getAgentLogs, { params: { name }, query: { tail: String(tail) }, signal }),
  })
