import type { Client } from '@roost/contracts/client'
import { listAsks, listMyAgents } from '@roost/contracts/conversations/workspace'
import {
  createConversation,
  getWorkspaceHistory,
  listConversations,
} from '@roost/contracts/conversations/workspace-conversations'
import {
  streamWorkspaceChat,
  streamWorkspaceRun,
  terminateWorkspaceRun,
} from '@roost/contracts/conversations/workspace-turns'
import { type QueryClient, queryOptions } from '@tanstack/react-query'
import type { LiveTurnsDeps } from '../chat/live-turns.ts'

/** Keys begin with what they show; `live/stale.ts` names their prefixes. */
export const workspaceKeys = {
  all: ['workspace'] as const,
  asks: ['workspace', 'asks'] as const,
  conversations: (name: string) => ['workspace', 'agent', name] as const,
}

/** The agents that are shared with the person, and their own. */
export const rosterQuery = (api: Client) =>
  queryOptions({
    queryKey: [...workspaceKeys.all, 'roster'],
    queryFn: async ({ signal }) => (await api.call(listMyAgents, { signal })).agents,
  })

export const conversationsQuery = (api: Client, name: string) =>
  queryOptions({
    queryKey: [...workspaceKeys.conversations(name), 'list'],
    queryFn: async ({ signal }) => (await api.call(listConversations, { params: { name }, signal })).sessions,
  })

/** Messages that are shown of one conversation, the newest of them. */
export const mostMessages = 200

export const historyQuery = (api: Client, name: string, id: string) =>
  queryOptions({
    queryKey: [...workspaceKeys.conversations(name), 'history', id],
    queryFn: ({ signal }) =>
      api.call(getWorkspaceHistory, {
        params: { name },
        query: { session_id: id, limit: String(mostMessages) },
        signal,
      }),
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

/** How turns with one agent are sent, followed and fetched once they are stored. */
export function workspaceCalls(
  api: Client,
  queries: QueryClient,
  name: string,
): Pick<LiveTurnsDeps, 'send' | 'follow' | 'onStored'> {
  return {
    send: (id, { message, files, key }, { headers, signal }) =>
      api.open(streamWorkspaceChat, {
        params: { name },
        body: { message, session_id: id, files: [...files] },
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
