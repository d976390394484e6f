import {
  closeChatSession,
  createSession,
  createSessionSingular,
  deleteSession,
  getChatHistory,
  getChatSession,
  getPersistentHistory,
  getSession,
  listChatSessions,
  listSessions,
  resetChatHistory,
  resetSession,
  sendChat,
  sendSessionMessage,
} from '@roost/contracts/conversations/chat'
import {
  type AgentCall,
  type Answer,
  agentRoute,
  answer,
  type RequestFacts,
  type Route,
  type StreamAnswer,
  streamAnswer,
} from '../../http/route.ts'
import { streamHeaders } from '../../runs/executions/index.ts'
import { replyForm } from './rules.ts'
import type { Chat } from './service.ts'
import type { Party } from './sessions.ts'
import type { TurnAsked } from './turn.ts'

export function chatRoutes(chat: Chat): Route[] {
  const { sessions } = chat

  async function turn(call: PartyCall, asked: TurnAsked): Promise<Answer | StreamAnswer | undefined> {
    const { request } = call
    const taken = await chat.takeTurn(partyOf(call), asked)
    const executionId = taken.row.id
    request.note({ execution_id: executionId, session_id: taken.session.id })
    const headers = { 'x-execution-id': executionId }
    switch (replyForm(request.header('accept'))) {
      case 'json': {
        const reply = await chat.waitForReply(taken, request.signal)
        return reply ? answer(reply, { headers }) : undefined
      }
      case 'sse':
        return streamAnswer('text/event-stream', chat.asEvents(taken, request.signal), {
          headers: { ...streamHeaders, ...headers },
        })
      case 'ndjson':
        return streamAnswer('application/x-ndjson', chat.asLines(taken, request.signal), {
          headers: { ...streamHeaders, ...headers },
        })
    }
  }

  /** An admin who reads somebody else's conversation leaves a trace. */
  async function read(call: PartyCall, id: string, query: { limit: number; before?: string }) {
    const { isForeign, ...found } = await sessions.read(partyOf(call), id, query)
    if (isForeign) call.request.note({ read_session: id, of_user: found.session.user_id })
    return found
  }

  return [
    agentRoute(sendChat, (call) => turn(call, { ...call.body, sessionId: null })),
    agentRoute(sendSessionMessage, (call) => turn(call, { ...call.body, sessionId: call.params.id })),

    agentRoute(listChatSessions, async (call) => {
      const { all } = call.query
      const { sessions: found, total } = await sessions.list(partyOf(call), call.query)
      if (all) call.request.note({ read_sessions: 'all' })
      const body = { agent_name: call.agent.name, session_count: total, sessions: found }
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
      const { sessions: found, total } = await sessions.list(partyOf(call), call.query)
      return answer(found, { headers: { 'x-total-count': String(total) } })
    }),
    agentRoute(createSession, (call) => sessions.create(partyOf(call), call.body)),
    agentRoute(createSessionSingular, (call) => sessions.create(partyOf(call), call.body)),
    agentRoute(getSession, (call) => read(call, call.params.id, call.query)),
    agentRoute(deleteSession, async (call) => {
      await sessions.remove(partyOf(call), call.params.id)
      return { message: 'The conversation is deleted.', session_id: call.params.id }
    }),
    agentRoute(resetSession, (call) => sessions.reset(partyOf(call), call.params.id)),
  ]
}

type PartyCall = Pick<AgentCall<unknown>, 'caller' | 'agent'> & { request: RequestFacts }

function partyOf({ caller, agent }: PartyCall): Party {
  return { caller, agent: { id: agent.id, name: agent.name } }
}
