import {
  branchSession,
  type ChatReply,
  closeChatSession,
  createSession,
  createSessionSingular,
  deleteSession,
  getChatHistory,
  getChatSession,
  getPersistentHistory,
  getSession,
  getSessionPicture,
  listChatSessions,
  listSessions,
  resetChatHistory,
  resetSession,
  sendChat,
  sendSessionMessage,
  updateSession,
} from '@roost/contracts/conversations/chat'
import { preferredWaitMs, prefersMinimal } from '../../http/prefer.ts'
import {
  type AgentCall,
  type Answer,
  agentRoute,
  answer,
  type RequestInfo,
  type Route,
  type StreamAnswer,
  streamAnswer,
} from '../../http/route.ts'
import { isViaMcp } from '../../runs/dispatch/index.ts'
import { streamHeaders } from '../../runs/executions/index.ts'
import { type ReplyForm, replyForm } from './rules.ts'
import type { Chat } from './service.ts'
import type { Party } from './sessions.ts'
import { asEvents, asLines, type Item, replayedItems } from './stream.ts'
import type { TurnRequest } from './turn.ts'

export function chatRoutes(chat: Chat): Route[] {
  const { sessions } = chat

  async function turn(call: PartyCall, turnRequest: TurnRequest): Promise<Answer | StreamAnswer> {
    const { request } = call
    const form = replyForm(request.header('accept'))
    const accepted = await chat.acceptOnce(partyOf(call), turnRequest, request.header('idempotency-key'))
    if (!accepted.turn) return replayAnswer(request, form, accepted.replay)
    const { turn, claim } = accepted
    request.note({ execution_id: turn.row.id, session_id: turn.session.id })
    const headers = { 'x-execution-id': turn.row.id }
    if (form !== 'json') return streamReply(form, chat.follow(turn, claim, request.signal), headers)
    const preferredMs = preferredWaitMs(request.header('prefer'))
    const reply = await chat.wait(turn, claim, { signal: request.signal, preferredMs })
    return replyAnswer(request, reply, headers)
  }

  function replayAnswer(request: RequestInfo, form: ReplyForm, body: unknown): Answer | StreamAnswer {
    // Stored by this feature: a reply, or the receipt of a request that did not wait.
    const stored = body as ChatReply | { execution_id: string }
    const isReply = 'execution' in stored
    const headers = {
      'x-idempotent-replay': 'true',
      'x-execution-id': isReply ? stored.execution.id : stored.execution_id,
    }
    if (form !== 'json') return streamReply(form, replayedItems(stored), headers)
    return isReply ? replyAnswer(request, stored, headers) : answer(stored, { headers })
  }

  /** Streams the reply with its transcript; `Prefer: return=minimal` omits the transcript. */
  function replyAnswer(
    request: RequestInfo,
    reply: ChatReply,
    headers: Record<string, string>,
  ): Answer | StreamAnswer {
    if (!prefersMinimal(request.header('prefer'))) {
      return streamAnswer('application/json; charset=utf-8', chat.text(reply, request.signal), { headers })
    }
    return answer(reply, { headers: { ...headers, 'preference-applied': 'return=minimal' } })
  }

  /** Audits an admin who reads another person's conversation. */
  async function read(call: PartyCall, id: string, query: { limit: number; before?: string }) {
    const { isForeign, ...result } = await sessions.read(partyOf(call), id, query)
    if (isForeign) call.request.note({ read_session: id, of_user: result.session.user_id })
    return result
  }

  return [
    agentRoute(sendChat, (call) =>
      turn(call, { ...call.body, sessionId: null, viaMcp: isViaMcp(call.request) }),
    ),
    agentRoute(sendSessionMessage, (call) =>
      turn(call, { ...call.body, sessionId: call.params.id, viaMcp: isViaMcp(call.request) }),
    ),

    agentRoute(listChatSessions, async (call) => {
      const { all } = call.query
      const { sessions: result, total } = await sessions.list(partyOf(call), call.query)
      if (all) call.request.note({ read_sessions: 'all' })
      const body = { agent_name: call.agent.name, session_count: total, sessions: result }
      return answer(body, { headers: { 'x-total-count': String(total) } })
    }),
    agentRoute(getChatSession, async (call) => {
      const { session, messages } = await read(call, call.params.id, call.query)
      return { session, message_count: session.message_count, messages }
    }),
    agentRoute(closeChatSession, async (call) => {
      await sessions.close(partyOf(call), call.params.id)
      return { status: 'closed' as const, session_id: call.params.id }
    }),

    agentRoute(getChatHistory, async (call) => {
      const messages = await sessions.history(partyOf(call))
      return messages.map(({ role, content, timestamp }) => ({ role, content, timestamp }))
    }),
    agentRoute(resetChatHistory, async (call) => {
      const session_id = await sessions.closeCurrent(partyOf(call))
      const message = session_id
        ? 'The conversation is closed; the next message begins a new one.'
        : 'There was no open conversation.'
      return { status: 'reset' as const, message, session_id }
    }),
    agentRoute(getPersistentHistory, async (call) => {
      const { messages, total } = await sessions.persistentHistory(partyOf(call), call.query.limit)
      return { agent_name: call.agent.name, message_count: total, messages }
    }),

    agentRoute(listSessions, async (call) => {
      const { sessions: result, total } = await sessions.list(partyOf(call), call.query)
      return answer(result, { headers: { 'x-total-count': String(total) } })
    }),
    agentRoute(createSession, (call) => sessions.create(partyOf(call), call.body)),
    agentRoute(createSessionSingular, (call) => sessions.create(partyOf(call), call.body)),
    agentRoute(getSession, (call) => read(call, call.params.id, call.query)),
    agentRoute(updateSession, (call) => sessions.update(partyOf(call), call.params.id, call.body)),
    agentRoute(branchSession, async (call) => {
      const branch = await sessions.branch(partyOf(call), call.params.id, call.body.message_id)
      call.request.note({ session_id: call.params.id, branch_id: branch.id })
      return branch
    }),
    agentRoute(getSessionPicture, async (call) => {
      const { id, picture_id } = call.params
      const { picture, isForeign, userId } = await sessions.picture(partyOf(call), id, picture_id)
      if (isForeign) call.request.note({ read_session: id, of_user: userId })
      return picture
    }),
    agentRoute(deleteSession, async (call) => {
      await sessions.remove(partyOf(call), call.params.id)
      return { message: 'The conversation is deleted.', session_id: call.params.id }
    }),
    agentRoute(resetSession, (call) => sessions.reset(partyOf(call), call.params.id)),
  ]
}

function streamReply(
  form: 'ndjson' | 'sse',
  items: AsyncIterable<Item>,
  headers: Record<string, string>,
): StreamAnswer {
  const all = { headers: { ...streamHeaders, ...headers } }
  return form === 'sse'
    ? streamAnswer('text/event-stream', asEvents(items), all)
    : streamAnswer('application/x-ndjson', asLines(items), all)
}

type PartyCall = Pick<AgentCall<unknown>, 'caller' | 'agent'> & { request: RequestInfo }

function partyOf({ caller, agent }: PartyCall): Party {
  return { caller, agent: { id: agent.id, name: agent.name } }
}
