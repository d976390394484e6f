import type { Client } from '@roost/contracts/client'
import { listAsks, listClients, listMyAgents } from '@roost/contracts/conversations/workspace'
import {
  createConversation,
  getWorkspaceHistory,
  getWorkspacePicture,
  listAllConversations,
  listConversations,
  searchConversations,
} from '@roost/contracts/conversations/workspace-conversations'
import { listDocuments } from '@roost/contracts/conversations/workspace-documents'
import {
  streamWorkspaceChat,
  streamWorkspaceRun,
  terminateWorkspaceRun,
} from '@roost/contracts/conversations/workspace-turns'
import { keepPreviousData, type QueryClient, queryOptions } from '@tanstack/react-query'
import { agentListEvents, ofAgentWhenTriggeredBy, runEvents, staleOn } from '../../live/stale.ts'
import type { LiveTurnsDeps } from '../chat/live-turns.ts'
import type { PictureSource } from '../chat/stored-picture.tsx'

export const workspaceKeys = {
  all: ['workspace'] as const,
  asks: ['workspace', 'asks'] as const,
  roster: ['workspace', 'roster'] as const,
  /** The conversations with all agents. */
  every: ['workspace', 'conversations'] as const,
  conversations: (name: string) => ['workspace', 'agent', name] as const,
}

staleOn([...agentListEvents, 'agent_renamed'], workspaceKeys.roster)
staleOn(['operator_queue_*'], workspaceKeys.asks)
staleOn(['chat_response_ready'], workspaceKeys.all)
staleOn(runEvents, ofAgentWhenTriggeredBy(['workspace'], workspaceKeys.conversations))

/** The user's own agents and those shared with them. */
export const rosterQuery = (api: Client) =>
  queryOptions({
    queryKey: workspaceKeys.roster,
    queryFn: ({ signal }) => api.call(listMyAgents, { signal }),
  })

export const conversationsQuery = (api: Client, name: string) =>
  queryOptions({
    queryKey: [...workspaceKeys.conversations(name), 'list'],
    queryFn: async ({ signal }) => (await api.call(listConversations, { params: { name }, signal })).sessions,
  })

export const everyConversationQuery = (api: Client) =>
  queryOptions({
    queryKey: workspaceKeys.every,
    queryFn: async ({ signal }) => (await api.call(listAllConversations, { signal })).sessions,
  })

export const searchQuery = (api: Client, words: string, limit = 50) =>
  queryOptions({
    queryKey: [...workspaceKeys.all, 'search', words, limit],
    queryFn: async ({ signal }) =>
      (await api.call(searchConversations, { query: { q: words, limit: String(limit) }, signal })).results,
    placeholderData: keepPreviousData,
  })

export const documentsQuery = (api: Client, name: string) =>
  queryOptions({
    queryKey: [...workspaceKeys.conversations(name), 'documents'],
    queryFn: async ({ signal }) => (await api.call(listDocuments, { params: { name }, signal })).documents,
  })

export const clientsQuery = (api: Client, name: string) =>
  queryOptions({
    queryKey: [...workspaceKeys.conversations(name), 'clients'],
    queryFn: ({ signal }) => api.call(listClients, { params: { name }, signal }),
  })

/** The newest messages of a conversation that are shown. */
export const maxMessages = 200

export const historyQuery = (api: Client, name: string, id: string) =>
  queryOptions({
    queryKey: [...workspaceKeys.conversations(name), 'history', id],
    queryFn: ({ signal }) =>
      api.call(getWorkspaceHistory, {
        params: { name },
        query: { session_id: id, limit: String(maxMessages) },
        signal,
      }),
  })

/** The pictures of one conversation. */
export const workspacePicturesOf = (api: Client, name: string, id: string): PictureSource => ({
  key: ['pictures', id],
  open: (picture_id, signal) =>
    api.open(getWorkspacePicture, { params: { name, id, picture_id }, ...(signal ? { signal } : {}) }),
})

export const asksQuery = (api: Client) =>
  queryOptions({
    queryKey: workspaceKeys.asks,
    queryFn: async ({ signal }) => (await api.call(listAsks, { signal })).asks,
  })

export const beginConversation = (api: Client, name: string) =>
  api.call(createConversation, { params: { name }, body: {} })

export const stopTurn = (api: Client, name: string, id: string) =>
  api.call(terminateWorkspaceRun, { params: { name, id } })

/** How turns with one agent are sent, followed and refetched. */
export function workspaceCalls(
  api: Client,
  queries: QueryClient,
  name: string,
): Pick<LiveTurnsDeps, 'send' | 'follow' | 'onStored'> {
  return {
    send: (id, { message, model, files, key }, { headers, signal }) =>
      api.open(streamWorkspaceChat, {
        params: { name },
        body: { message, session_id: id, model, files: [...files] },
        headers: { ...headers, 'idempotency-key': key },
        signal,
      }),
    follow:
      (id) =>
      ({ after, headers, signal }) =>
        api.open(streamWorkspaceRun, {
          params: { name, id },
          query: { after: String(after) },
          headers,
          signal,
        }),
    onStored: () => queries.invalidateQueries({ queryKey: workspaceKeys.all }),
  }
}
