import { getFolders, listAvailableFolders, listFolderConsumers } from '@roost/contracts/agents/folders'
import type { Client } from '@roost/contracts/client'
import { queryOptions } from '@tanstack/react-query'
import { agentListEvents, staleOn } from '../../live/stale.ts'

/** One prefix for all agents, because a change of one agent affects the pages of others. */
export const folderKeys = {
  all: ['folders'] as const,
  of: (name: string) => ['folders', name] as const,
}

staleOn([...agentListEvents, 'agent_renamed', 'agent_settings_changed'], folderKeys.all)

export const foldersQuery = (api: Client, name: string) =>
  queryOptions({
    queryKey: [...folderKeys.of(name), 'own'],
    queryFn: ({ signal }) => api.call(getFolders, { params: { name }, signal }),
  })

/** All folders that the agent may read. */
export const availableQuery = (api: Client, name: string) =>
  queryOptions({
    queryKey: [...folderKeys.of(name), 'available'],
    queryFn: ({ signal }) => api.call(listAvailableFolders, { params: { name }, signal }),
  })

export const consumersQuery = (api: Client, name: string) =>
  queryOptions({
    queryKey: [...folderKeys.of(name), 'consumers'],
    queryFn: ({ signal }) => api.call(listFolderConsumers, { params: { name }, signal }),
  })
