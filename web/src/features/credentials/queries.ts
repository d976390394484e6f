import {
  getCredentialRequirements,
  getCredentialsStatus,
  getSuppressedVariables,
} from '@roost/contracts/agents/credentials'
import type { Client } from '@roost/contracts/client'
import { queryOptions } from '@tanstack/react-query'

/** Keys begin with what they show; `live/stale.ts` names their prefixes. */
export const credentialKeys = {
  ofAgent: (name: string) => ['agent', name, 'credentials'] as const,
}

/** Names alone: no value is ever told. */
export const credentialsStatusQuery = (api: Client, name: string) =>
  queryOptions({
    queryKey: [...credentialKeys.ofAgent(name), 'status'],
    queryFn: ({ signal }) => api.call(getCredentialsStatus, { params: { name }, signal }),
  })

/** The checklist; for the owner and admins. */
export const requirementsQuery = (api: Client, name: string) =>
  queryOptions({
    queryKey: [...credentialKeys.ofAgent(name), 'requirements'],
    queryFn: ({ signal }) => api.call(getCredentialRequirements, { params: { name }, signal }),
  })

/** Names in a `.env` that reach no run; a star stands for any end. */
export const suppressedQuery = (api: Client) =>
  queryOptions({
    queryKey: ['suppressed-variables'],
    queryFn: async ({ signal }) => (await api.call(getSuppressedVariables, { signal })).suppressed_env_keys,
    staleTime: 600_000,
  })
