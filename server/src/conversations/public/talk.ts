import type { PublicChatBody, PublicReply } from '@roost/contracts/conversations/public-chat'
import { unprotected } from '../../foundation/idempotency/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { Fault, isFault } from '../../kit/fault.ts'
import { newId } from '../../kit/ids.ts'
import type { AgentLink } from '../../ports/agent-link/port.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import { checkFiles } from '../../runs/attachments/index.ts'
import type { Dispatch } from '../../runs/dispatch/index.ts'
import type { ExecutionRow, Executions } from '../../runs/executions/index.ts'
import { createWait, type WaitOptions } from '../../runs/executions/index.ts'
import {
  blankSession,
  chatStore,
  createAcceptSerialTurn,
  outcomeMessage,
  requireNoTurn,
  type SessionRow,
  strangerPrompt,
  type Turn,
} from '../chat/index.ts'
import type { OpenLink } from './resolve-link.ts'
import { dayOf, isOpen, secondsLeftOfDay } from './rules.ts'
import { publicStore } from './store.ts'
import { holderOfVisitor, type Visitor, type Visitors } from './visitors.ts'

export type TalkDeps = {
  db: Db
  clock: Clock
  dispatch: Pick<Dispatch, 'checkAgent' | 'transaction' | 'enqueue'>
  executions: Pick<Executions, 'watch' | 'untilEnd' | 'inFlight'>
  link: Pick<AgentLink, 'call' | 'isConnected'>
  visitors: Pick<Visitors, 'newVisitor' | 'renew'>
}

/** An accepted turn and its visitor. */
export type AcceptedTurn = { turn: Turn; visitor: Visitor }

export type Talk = {
  /**
   * Accepts a turn; `visitor` is null for a new visitor. Throws `turn_in_progress`, `daily_cap_reached`, the faults of
   * accepting a run, and for a link changed meanwhile `link_not_found` and `session_expired`.
   */
  accept(open: OpenLink, visitor: Visitor | null, body: PublicChatBody): Promise<AcceptedTurn>
  /** Waits for the reply. Throws the faults of `Wait`, without the agent's error messages. */
  wait(accepted: AcceptedTurn, options: WaitOptions): Promise<PublicReply>
  /** The newest messages, oldest first. */
  history(visitor: Visitor | null): Promise<History>
  /** Throws `turn_in_progress`. */
  reset(open: OpenLink, visitor: Visitor | null): Promise<{ cleared: boolean; new_session_id: string | null }>
}

export type History = {
  messages: { role: 'user' | 'assistant'; content: string; timestamp: string }[]
  message_count: number
  in_flight_execution_id: string | null
}

const maxHistoryMessages = 100

/** Manages the conversations of visitors, one for each visitor. */
export function createTalk(deps: TalkDeps): Talk {
  const { db, clock, dispatch, executions, link: agentLink, visitors } = deps
  const acceptSerialTurn = createAcceptSerialTurn(deps)
  const waitForEnd = createWait(deps)

  async function conversationOf(tx: Tx, agentId: string, visitor: Visitor): Promise<SessionRow> {
    const store = chatStore(tx)
    const key = holderOfVisitor(visitor.row)
    const existing = await store.current(key)
    // The lock fails when the sweep is deleting the conversation.
    if (existing && (await store.hold(existing.id))) return existing
    await store.insertSession(newConversation(agentId, visitor, timestamp(clock.now())))
    const created = await store.current(key)
    if (!created) throw new Error('The conversation of a visitor came and went.')
    return created
  }

  /** Counted in the turn's transaction, so that a refused message costs nothing. */
  async function countMessage(tx: Tx, { link }: OpenLink, isVerified: boolean): Promise<void> {
    const now = clock.now()
    const store = publicStore(tx)
    if (await store.countMessage(link.id, { day: dayOf(now), now: timestamp(now), isVerified })) return
    const existing = await store.linkByToken(link.token_hash)
    if (!existing || !isOpen(existing, timestamp(now))) throw new Fault('link_not_found')
    // The owner has required an address since the request found the link.
    if (existing.require_email === 1 && !isVerified) throw new Fault('session_expired')
    throw new Fault('daily_cap_reached', 'No more messages are taken on this link today.', {
      retry_after_seconds: secondsLeftOfDay(now),
    })
  }

  return {
    async accept(open, knownVisitor, { message, files: sentFiles }) {
      const files = checkFiles(sentFiles)
      const agentContext = await dispatch.checkAgent(open.agent.id).catch(withPublicMessage)
      return dispatch
        .transaction(async (tx) => {
          const visitor = knownVisitor ?? visitors.newVisitor(open.link)
          await countMessage(tx, open, visitor.tokenHash !== null)
          const session = await conversationOf(tx, open.agent.id, visitor)
          const turn = await acceptSerialTurn(tx, agentContext, session, {
            triggeredBy: 'public',
            message,
            source: {
              principal: session.holder_id,
              userId: null,
              userEmail: visitor.row.email,
              agent: null,
              key: null,
            },
            systemPrompt: strangerPrompt('a visitor of a public link'),
            model: null,
            files,
            title: null,
          })
          const store = publicStore(tx)
          await store.recordMessage(visitor.row, turn.row.created_at)
          await store.insertTurn({
            execution_id: turn.row.id,
            link_id: open.link.id,
            token_hash: visitor.tokenHash,
          })
          return { turn, visitor }
        })
        .catch(withPublicMessage)
    },

    async wait({ turn, visitor }, options) {
      const finished = await waitForEnd(turn.row, unprotected, options).catch(withoutDetails)
      const session = await chatStore(db).session(turn.session.id)
      const isAnswered = finished.status === 'success'
      return {
        response: isAnswered ? finished.response : null,
        session_id: visitor.sessionId,
        execution_id: finished.id,
        message_count: session?.message_count ?? 0,
        ...(isAnswered ? { usage: usageOf(finished) } : {}),
      }
    },

    async history(visitor) {
      const store = chatStore(db)
      const session = visitor && (await store.current(holderOfVisitor(visitor.row)))
      if (!session) return { messages: [], message_count: 0, in_flight_execution_id: null }
      const rows = await store.messages(session.id, maxHistoryMessages)
      return {
        messages: rows.map(({ role, content, timestamp: at }) => ({ role, content, timestamp: at })),
        message_count: session.message_count,
        in_flight_execution_id: (await executions.inFlight(db, [session.id])).get(session.id) ?? null,
      }
    },

    async reset({ agent }, visitor) {
      if (!visitor) return { cleared: false, new_session_id: null }
      const done = await db.atomically(async (tx) => {
        const store = chatStore(tx)
        const session = await store.current(holderOfVisitor(visitor.row))
        const isLocked = session !== null && (await store.hold(session.id))
        if (isLocked) {
          await requireNoTurn(executions, tx, session.id)
          await store.remove(session.id)
        }
        const new_session_id = visitor.tokenHash === null ? await visitors.renew(tx, visitor) : null
        return { sessionId: isLocked ? session.id : null, new_session_id }
      })
      if (done.sessionId !== null && agentLink.isConnected(agent.id)) {
        // An unreachable agent ends idle processes by itself.
        agentLink.call(agent.id, 'session.drop', { session_id: done.sessionId }).catch(() => {})
      }
      return { cleared: done.sessionId !== null, new_session_id: done.new_session_id }
    },
  }
}

function newConversation(agentId: string, { row }: Visitor, at: string): SessionRow {
  const holder = holderOfVisitor(row)
  return {
    id: newId(),
    agent_id: agentId,
    holder_id: holder,
    // There is no account that could be notified.
    user_id: holder,
    user_email: row.email,
    title: null,
    kind: 'public',
    current_key: holder,
    started_at: at,
    ...blankSession,
  }
}

function usageOf({ input_tokens, output_tokens }: ExecutionRow) {
  return { input_tokens: input_tokens ?? 0, output_tokens: output_tokens ?? 0 }
}

/** Replaces messages that are meant for owners. */
function withPublicMessage(error: unknown): never {
  if (isFault(error, 'agent_not_found')) throw new Fault('link_not_found')
  if (!isFault(error, 'agent_not_running', 'queue_full', 'circuit_open')) throw error
  throw new Fault(error.code, 'The agent is not available at the moment.', error.fields)
}

/** A runtime's error messages may name paths, providers and people. */
function withoutDetails(error: unknown): never {
  if (!isFault(error, 'run_failed', 'run_timeout', 'provider_rate_limited', 'sync_wait_exceeded')) throw error
  const { execution_id, error_code = null, status } = error.fields
  const code = typeof error_code === 'string' ? error_code : null
  const message = isFault(error, 'sync_wait_exceeded') ? undefined : outcomeMessage(code)
  throw new Fault(error.code, message, { execution_id, error_code, ...(status ? { status } : {}) })
}
