import type { Client } from '@roost/contracts/client'
import {
  confirmPublicCode,
  getPublicChat,
  getPublicHistory,
  type PublicIdentity,
  requestPublicCode,
  resetPublicChat,
  sendPublicChat,
  streamPublicTurn,
  terminatePublicTurn,
} from '@roost/contracts/conversations/public-chat'
import { type QueryClient, queryOptions } from '@tanstack/react-query'
import type { LiveTurnsDeps } from '../chat/live-turns.ts'
import type { Visit } from './visit.ts'

/** Requests of a visitor carry no session: a signed-in user is a visitor like any other. */
export const visitorOf = (api: Client): Client => api.withToken(null)

const linkKey = (token: string) => ['public-chat', token] as const

/** The address of the agent's picture. */
export const publicPicture = (token: string) => `/api/public/link/${encodeURIComponent(token)}/picture`

export const publicChatQuery = (api: Client, token: string) =>
  queryOptions({
    queryKey: [...linkKey(token), 'link'],
    queryFn: ({ signal }) => visitorOf(api).call(getPublicChat, { params: { token }, signal }),
    // Links receive no events, so the status is polled.
    refetchInterval: 60_000,
  })

/** `as`: the stored identity. Each identity has its own history. */
export const publicHistoryQuery = (api: Client, token: string, visit: Visit, as: string) =>
  queryOptions({
    queryKey: [...linkKey(token), 'history', as],
    queryFn: async ({ signal }) => {
      const { session_id, session_token } = visit.identity()
      const history = await visitorOf(api).call(getPublicHistory, {
        params: { token },
        query: session_id ? { session_id } : {},
        headers: headersOf({ session_token }),
        signal,
      })
      const before = history.message_count - history.messages.length
      const messages = history.messages.map((message, index) => ({ ...message, id: String(before + index) }))
      return { ...history, messages }
    },
  })

export const askForCode = (api: Client, token: string, email: string) =>
  visitorOf(api).call(requestPublicCode, { body: { token, email } })

export const showCode = (api: Client, token: string, email: string, code: string) =>
  visitorOf(api).call(confirmPublicCode, { body: { token, email, code } })

export const stopPublicTurn = (api: Client, token: string, visit: Visit, executionId: string) =>
  visitorOf(api).call(terminatePublicTurn, {
    params: { token, execution_id: executionId },
    body: {},
    headers: headersOf(visit.identity()),
  })

export const beginAnew = (api: Client, token: string, visit: Visit) => {
  const { session_id } = visit.identity()
  return visitorOf(api).call(resetPublicChat, {
    params: { token },
    query: session_id ? { session_id } : {},
    headers: headersOf(visit.identity()),
  })
}

/** How turns on a link are sent, followed and refetched. */
export function publicCalls(
  { api, queries }: { api: Client; queries: QueryClient },
  token: string,
  visit: Visit,
): Pick<LiveTurnsDeps, 'send' | 'follow' | 'onStored'> {
  return {
    async send(_, { message, files }, { signal }) {
      const identity = visit.identity()
      const { session_id } = identity
      const response = await visitorOf(api).open(sendPublicChat, {
        params: { token },
        body: { message, files: [...files], async_mode: true, ...(session_id ? { session_id } : {}) },
        headers: headersOf(identity),
        signal,
      })
      if (!response.ok) return response
      // The platform guarantees the shape of the receipt.
      const accepted = (await response.json()) as { execution_id: string; session_id: string }
      if (!identity.session_token) visit.store({ session_id: accepted.session_id })
      return acceptedStream(accepted.execution_id)
    },
    follow:
      (execution_id) =>
      ({ after, headers, signal }) =>
        visitorOf(api).open(streamPublicTurn, {
          params: { token, execution_id },
          query: { after: String(after), partials: 'true' },
          headers: { ...headers, ...headersOf(visit.identity()) },
          signal,
        }),
    onStored: () => queries.invalidateQueries({ queryKey: linkKey(token) }),
  }
}

/**
 * Links accept a turn with one response and stream it with another. Presents the first one as the reader
 * expects it.
 */
function acceptedStream(execution_id: string): Response {
  const line = { type: 'system', subtype: 'accepted', execution_id, status: 'queued' }
  return new Response(`${JSON.stringify(line)}\n`, {
    headers: { 'content-type': 'application/x-ndjson', 'x-execution-id': execution_id },
  })
}

/** In a header, not in the URL: URLs appear in logs. */
function headersOf({ session_token }: PublicIdentity): Record<string, string> {
  // Copied value: importing it from the contracts would load their schemas.
  return session_token ? { 'x-session-token': session_token } : {}
}
