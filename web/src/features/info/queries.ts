import { getAgentInfo } from '@roost/contracts/agents/registry'
import type { Client } from '@roost/contracts/client'
import { queryOptions } from '@tanstack/react-query'
import { containerEvents, ofAgent, staleOn } from '../../live/stale.ts'

const infoKey = (name: string) => ['agent', name, 'info'] as const

staleOn(['execution_finished', ...containerEvents], ofAgent(infoKey))

/** The metadata of the agent's template. */
export const infoQuery = (api: Client, name: string) =>
  queryOptions({
    queryKey: infoKey(name),
    queryFn: ({ signal }) => api.call(getAgentInfo, { params: { name }, signal }),
  })
