import type { Client } from '@roost/contracts/client'
import { getFactorPolicy } from '@roost/contracts/identity/second-factor'
import { queryOptions } from '@tanstack/react-query'

export const factorPolicyKey = ['factor-policy'] as const

/** The roles that must have a second factor; admins only. */
export const factorPolicyQuery = (api: Client) =>
  queryOptions({ queryKey: factorPolicyKey, queryFn: ({ signal }) => api.call(getFactorPolicy, { signal }) })
