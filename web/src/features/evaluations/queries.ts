import type { Client } from '@roost/contracts/client'
import { listEvaluations } from '@roost/contracts/operations/evaluations'
import { queryOptions } from '@tanstack/react-query'

export const evaluationsQuery = (api: Client, name: string) =>
  queryOptions({
    queryKey: ['agent', name, 'evaluations'],
    queryFn: ({ signal }) => api.call(listEvaluations, { params: { name }, query: {}, signal }),
  })
