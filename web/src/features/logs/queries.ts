import { getAgentLogs } from '@roost/contracts/agents/registry'
import type { Client } from '@roost/contracts/client'
import { queryOptions } from '@tanstack/react-query'
import { containerEvents, ofAgent, staleOn } from '../../live/stale.ts'

const logsKey = (name: string) => ['agent', name, 'logs'] as const

staleOn(containerEvents, ofAgent(logsKey))

/** The last `tail` lines of the container's output, also after it has stopped. */
export const logsQuery = (api: Client, name: string, tail: number) =>
  queryOptions({
    queryKey: [...logsKey(name), tail],
    queryFn: ({ signal }) =>
      api.call(getAgentLogs, { params: { name }, query: { tail: String(tail) }, signal }),
  })
