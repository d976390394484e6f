import type { Client } from '@roost/contracts/client'
import { getAuthMode } from '@roost/contracts/identity/sessions'
import { queryOptions } from '@tanstack/react-query'

/** Whether the platform is set up, and which ways of signing in it offers. */
export const authModeQuery = (api: Client) =>
  queryOptions({ queryKey: ['auth-mode'], queryFn: ({ signal }) => api.call(getAuthMode, { signal }) })
