import type { Client } from '@roost/contracts/client'
import { getLoop, listLoops } from '@roost/contracts/runs/loops'
import { queryOptions } from '@tanstack/react-query'
import { ofAgent, ofAgentWhenTriggeredBy, runEvents, staleOn } from '../../live/stale.ts'

export const loopKeys = {
  ofAgent: (name: string) => ['agent', name, 'loops'] as const,
}

staleOn(['loop_*'], ofAgent(loopKeys.ofAgent))
staleOn(runEvents, ofAgentWhenTriggeredBy(['loop'], loopKeys.ofAgent))

export const maxLoops = 100

export const loopsQuery = (api: Client, name: string) =>
  queryOptions({
    queryKey: [...loopKeys.ofAgent(name), 'list'],
    queryFn: ({ signal }) =>
      api.call(listLoops, { params: { name }, query: { limit: String(maxLoops) }, signal }),
  })

export const loopQuery = (api: Client, name: string, id: string) =>
  queryOptions({
    queryKey: [...loopKeys.ofAgent(name), id],
    queryFn: ({ signal }) => api.call(getLoop, { params: { loop_id: id }, signal }),
  })
