import { type EgressEntry, getAgentEgress, listEgressLog } from '@roost/contracts/agents/egress'
import { type Client, errorOf } from '@roost/contracts/client'
import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { containerEvents, ofAgent, staleOn } from '../../live/stale.ts'

export const egressKeys = {
  ofAgent: (name: string) => ['agent', name, 'egress'] as const,
}

staleOn(['agent_settings_changed', 'execution_finished', ...containerEvents], ofAgent(egressKeys.ofAgent))

export const egressQuery = (api: Client, name: string) =>
  queryOptions({
    queryKey: [...egressKeys.ofAgent(name), 'state'],
    queryFn: ({ signal }) => api.call(getAgentEgress, { params: { name }, signal }),
  })

export type Decision = EgressEntry['decision'] | 'all'
export const logPageSize = 50

export const egressLogQuery = (api: Client, name: string, decision: Decision, page: number) =>
  queryOptions({
    queryKey: [...egressKeys.ofAgent(name), 'log', decision, page],
    queryFn: async ({ signal }) => {
      const query = {
        limit: String(logPageSize),
        offset: String((page - 1) * logPageSize),
        ...(decision === 'all' ? {} : { decision }),
      }
      // The total is in a header, which the plain client does not return.
      const response = await api.open(listEgressLog, { params: { name }, query, signal })
      if (!response.ok) throw await errorOf(response)
      // The platform guarantees the shape of its reply.
      const rows = (await response.json()) as EgressEntry[]
      return { rows, total: Number(response.headers.get('x-total-count') ?? rows.length) }
    },
    placeholderData: keepPreviousData,
  })
