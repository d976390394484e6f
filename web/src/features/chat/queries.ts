import type { Client } from '@roost/contracts/client'
import {
  branchSession,
  type ChatSession,
  closeChatSession,
  createSession,
  deleteSession,
  getChatSession,
  getSessionPicture,
  listSessions,
  type SessionChanges,
  sendSessionMessage,
  updateSession,
} from '@roost/contracts/conversations/chat'
import {
  getExecution,
  getExecutionLog,
  streamExecution,
  terminateExecution,
} from '@roost/contracts/runs/executions'
import { infiniteQueryOptions, type QueryClient, queryOptions } from '@tanstack/react-query'
import { ofAgent, ofAgentWhenTriggeredBy, runEvents, staleOn } from '../../live/stale.ts'
import { runKeys } from '../executions/queries.ts'
import type { LiveTurnsDeps } from './live-turns.ts'
import type { PictureSource } from './stored-picture.tsx'

export const chatKeys = {
  /** Key of all conversations of the user with an agent. */
  all: (name: string) => ['agent', name, 'sessions'] as const,
  list: (name: string) => [...chatKeys.all(name), 'list'] as const,
  messages: (name: string, id: string) => [...chatKeys.all(name), 'messages', id] as const,
  execution: (id: string) => runKeys.details(id),
}

// No other event reports the start of a chat turn.
const chatTriggers = ['chat', 'session', 'mcp', 'self_task']
staleOn(runEvents, ofAgentWhenTriggeredBy(chatTriggers, chatKeys.all))
staleOn(['chat_response_ready'], ofAgent(chatKeys.all))

/** The user's own conversations with an agent without archived ones, latest first. */
export const sessionsQuery = (api: Client, name: string) =>
  queryOptions({
    queryKey: chatKeys.list(name),
    queryFn: ({ signal }) =>
      api.call(listSessions, { params: { name }, query: { limit: '200' }, signal }).then(byLatest),
  })

export const archivedQuery = (api: Client, name: string) =>
  queryOptions({
    queryKey: [...chatKeys.all(name), 'archived'] as const,
    queryFn: ({ signal }) =>
      api
        .call(listSessions, { params: { name }, query: { limit: '200', archived: 'only' }, signal })
        .then(byLatest),
  })

/** Those with a text in their name or messages, also archived ones, latest first. */
export const foundSessionsQuery = (api: Client, name: string, search: string) =>
  queryOptions({
    queryKey: [...chatKeys.all(name), 'found', search] as const,
    queryFn: ({ signal }) =>
      api
        .call(listSessions, { params: { name }, query: { limit: '50', search, archived: 'include' }, signal })
        .then(byLatest),
    enabled: search !== '',
  })

function byLatest(sessions: ChatSession[]): ChatSession[] {
  const at = (session: ChatSession) => session.last_message_at ?? session.started_at
  return sessions.toSorted((a, b) => at(b).localeCompare(at(a)))
}

const pageSize = 60

/** A conversation with its messages, in pages from the newest back. */
export const messagesQuery = (api: Client, name: string, id: string) =>
  infiniteQueryOptions({
    queryKey: chatKeys.messages(name, id),
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: before, signal }) =>
      api.call(getChatSession, {
        params: { name, id },
        query: { limit: String(pageSize), ...(before === undefined ? {} : { before }) },
        signal,
      }),
    getNextPageParam: ({ messages }) => (messages.length < pageSize ? undefined : messages[0]?.id),
  })

/** The run of an ended turn, which no longer changes. */
export const endedQuery = (api: Client, name: string, id: string) =>
  queryOptions({
    queryKey: chatKeys.execution(id),
    queryFn: ({ signal }) => api.call(getExecution, { params: { name, id }, signal }),
    staleTime: Number.POSITIVE_INFINITY,
  })

/** The transcript of an ended turn. */
export const logQuery = (api: Client, name: string, id: string) =>
  queryOptions({
    queryKey: [...runKeys.one(id), 'log'],
    queryFn: ({ signal }) => api.call(getExecutionLog, { params: { name, id }, signal }),
    staleTime: Number.POSITIVE_INFINITY,
  })

export const beginSession = (api: Client, name: string) =>
  api.call(createSession, { params: { name }, body: { make_current: true } })

export const closeSession = (api: Client, name: string, id: string) =>
  api.call(closeChatSession, { params: { name, id } })

export const changeSession = (api: Client, name: string, id: string, changes: SessionChanges) =>
  api.call(updateSession, { params: { name, id }, body: changes })

export const branchFrom = (api: Client, name: string, id: string, messageId: string) =>
  api.call(branchSession, { params: { name, id }, body: { message_id: messageId } })

/** The pictures of one conversation. */
export const picturesOf = (api: Client, name: string, id: string): PictureSource => ({
  // Not below `chatKeys`: a picture never changes.
  key: ['pictures', id],
  open: (picture_id, signal) =>
    api.open(getSessionPicture, { params: { name, id, picture_id }, ...(signal ? { signal } : {}) }),
})

export const removeSession = (api: Client, name: string, id: string) =>
  api.call(deleteSession, { params: { name, id } })

export const stopTurn = (api: Client, name: string, id: string) =>
  api.call(terminateExecution, { params: { name, id } })

/** How turns with one agent are sent, followed and refetched. */
export function turnCalls(
  api: Client,
  queries: QueryClient,
  name: string,
): Pick<LiveTurnsDeps, 'send' | 'follow' | 'onStored'> {
  return {
    send: (id, { message, model, files, key }, { headers, signal }) =>
      api.open(sendSessionMessage, {
        params: { name, id },
        body: { message, model, files: [...files] },
        headers: { ...headers, 'idempotency-key': key },
        signal,
      }),
    follow:
      (id) =>
      ({ after, headers, signal }) =>
        api.open(streamExecution, {
          params: { name, id },
          query: { after: String(after), partials: 'true' },
          headers,
          signal,
        }),
    onStored: () => queries.invalidateQueries({ queryKey: chatKeys.all(name) }),
  }
}
