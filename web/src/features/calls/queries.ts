import type { Client } from '@roost/contracts/client'
import { getCallBinding } from '@roost/contracts/conversations/calls'
import { listAgentExecutions } from '@roost/contracts/runs/executions'
import { queryOptions } from '@tanstack/react-query'
import { runKeys } from '../executions/queries.ts'

/** Below the agent's runs: each call is a run, and changes today's call count. */
export const callKeys = {
  binding: (name: string) => [...runKeys.ofAgent(name), 'call-binding'] as const,
  history: (name: string) => [...runKeys.ofAgent(name), 'calls'] as const,
}

export const bindingQuery = (api: Client, name: string) =>
  queryOptions({
    queryKey: callKeys.binding(name),
    queryFn: ({ signal }) => api.call(getCallBinding, { params: { name }, signal }),
  })

const looked = 50

/** The newest calls, without the runs that followed them. */
export const callsQuery = (api: Client, name: string) =>
  queryOptions({
    queryKey: callKeys.history(name),
    queryFn: async ({ signal }) => {
      const query = { triggered_by: 'voip', limit: String(looked) }
      const runs = await api.call(listAgentExecutions, { params: { name }, query, signal })
      return runs.filter((run) => run.parent_execution_id === null)
    },
  })
