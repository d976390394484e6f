import { getPermissions, listPermissionEdges } from '@roost/contracts/agents/permissions'
import type { Client } from '@roost/contracts/client'
import { queryOptions } from '@tanstack/react-query'
import { agentKeys } from '../agents/queries.ts'

/** Among what an agent is set to, and what the fleet is: the events of both bring them up to date. */
export const permissionKeys = {
  of: (name: string) => [...agentKeys.settings(name), 'permissions'] as const,
  edges: [...agentKeys.list, 'edges'] as const,
}

/** Whom an agent may call, and whom it might be allowed to. */
export const permissionsQuery = (api: Client, name: string) =>
  queryOptions({
    queryKey: permissionKeys.of(name),
    queryFn: ({ signal }) => api.call(getPermissions, { params: { name }, signal }),
  })

/** Which of the agents that the person reaches may call which. */
export const edgesQuery = (api: Client) =>
  queryOptions({
    queryKey: permissionKeys.edges,
    queryFn: ({ signal }) => api.call(listPermissionEdges, { signal }),
  })
