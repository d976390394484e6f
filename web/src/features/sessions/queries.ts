import type { Client } from '@roost/contracts/client'
import { getFactorStatus } from '@roost/contracts/identity/second-factor'
import { getAuthMode } from '@roost/contracts/identity/sessions'
import { queryOptions } from '@tanstack/react-query'

/** Whether the platform is set up, and which ways of signing in it offers. */
export const authModeQuery = (api: Client) =>
  queryOptions({ queryKey: ['auth-mode'], queryFn: ({ signal }) => api.call(getAuthMode, { signal }) })

export const factorKey = ['second-factor'] as const

/** Whether the own account has a second factor and must have one. */
export const factorQuery = (api: Client) =>
  queryOptions({ queryKey: factorKey, queryFn: ({ signal }) => api.call(getFactorStatus, { signal }) })
