import type { Client } from '@roost/contracts/client'
import { getModelPrices } from '@roost/contracts/runs/model-prices'
import { queryOptions } from '@tanstack/react-query'

export const modelPricesKey = ['settings', 'model-prices'] as const

export const modelPricesQuery = (api: Client) =>
  queryOptions({
    queryKey: modelPricesKey,
    queryFn: ({ signal }) => api.call(getModelPrices, { signal }),
  })
