import {
  getCredentialRequirements,
  getCredentialsStatus,
  getSuppressedVariables,
} from '@roost/contracts/agents/credentials'
import type { Client } from '@roost/contracts/client'
import { queryOptions } from '@tanstack/react-query'
import { containerEvents, ofAgent, staleOn } from '../../live/stale.ts'

export const credentialKeys = {
  ofAgent: (name: string) => ['agent', name, 'credentials'] as const,
}

staleOn(['execution_finished', ...containerEvents], ofAgent(credentialKeys.ofAgent))

/** Names only; the API never returns values. */
export const credentialsStatusQuery = (api: Client, name: string) =>
  queryOptions({
    queryKey: [...credentialKeys.ofAgent(name), 'status'],
    queryFn: ({ signal }) => api.call(getCredentialsStatus, { params: { name }, signal }),
  })

/** The declared credentials; owner and admins only. */
export const requirementsQuery = (api: Client, name: string) =>
  queryOptions({
    queryKey: [...credentialKeys.ofAgent(name), 'requirements'],
    queryFn: ({ signal }) => api.call(getCredentialRequirements, { params: { name }, signal }),
  })

/** Names of `.env` variables that are withheld from runs; `*` matches any ending. */
export const suppressedQuery = (api: Client) =>
  queryOptions({
    queryKey: ['suppressed-variables'],
    queryFn: async ({ signal }) => (await api.call(getSuppressedVariables, { signal })).suppressed_env_keys,
    staleTime: 600_000,
  })
