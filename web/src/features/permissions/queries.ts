import { getPermissions, listPermissionEdges } from '@roost/contracts/agents/permissions'
import type { Client } from '@roost/contracts/client'
import { queryOptions } from '@tanstack/react-query'
import { agentKeys } from '../agents/queries.ts'

/** Under the keys of both the agent's settings and the fleet, so that events of both refresh it. */
export const permissionKeys = {
  of: (name: string) => [...agentKeys.settings(name), 'permissions'] as const,
  edges: [...agentKeys.list, 'edges'] as const,
}

/** The permitted agents of an agent, and the others that could be permitted. */
export const permissionsQuery = (api: Client, name: string) =>
  queryOptions({
    queryKey: permissionKeys.of(name),
    queryFn: ({ signal }) => api.call(getPermissions, { params: { name }, signal }),
  })

/** All permissions between accessible agents. */
export const edgesQuery = (api: Client) =>
  queryOptions({
    queryKey: permissionKeys.edges,
    queryFn: ({ signal }) => api.call(listPermissionEdges, { signal }),
  })
