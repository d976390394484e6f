import type { Client } from '@roost/contracts/client'
import { getFactorStatus } from '@roost/contracts/identity/second-factor'
import { getAuthMode } from '@roost/contracts/identity/sessions'
import { queryOptions } from '@tanstack/react-query'

/** Whether setup is complete, and the available sign-in methods. */
export const authModeQuery = (api: Client) =>
  queryOptions({ queryKey: ['auth-mode'], queryFn: ({ signal }) => api.call(getAuthMode, { signal }) })

export const factorKey = ['second-factor'] as const

/** Whether the user has a second factor and must have one. */
export const factorQuery = (api: Client) =>
  queryOptions({ queryKey: factorKey, queryFn: ({ signal }) => api.call(getFactorStatus, { signal }) })
