import type { Client } from '@roost/contracts/client'
import { type CostGrouping, getCosts } from '@roost/contracts/runs/costs'
import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { runKeys } from '../executions/queries.ts'
import type { Days } from './period.ts'

export type CostFilter = Days & { by: CostGrouping; agent?: string | undefined }

/** Costs change with runs, so they share the key of the fleet's runs. */
export const costsQuery = (api: Client, filter: CostFilter) =>
  queryOptions({
    queryKey: [...runKeys.fleet, 'costs', filter],
    queryFn: ({ signal }) => api.call(getCosts, { query: costQuery(filter), signal }),
    placeholderData: keepPreviousData,
  })

export function costQuery({ from, to, by, agent }: CostFilter) {
  return { from, to, group_by: by, ...(agent ? { agent } : {}) }
}
