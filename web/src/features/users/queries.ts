import type { Client } from '@roost/contracts/client'
import { getMe } from '@roost/contracts/identity/users'
import { queryOptions } from '@tanstack/react-query'

/** The signed-in user. */
export const meQuery = (api: Client) =>
  queryOptions({ queryKey: ['me'], queryFn: ({ signal }) => api.call(getMe, { signal }) })
