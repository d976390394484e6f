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
import { type Asking, createWait } from '../../runs/waiting/index.ts'
import {
  blankSession,
  chatStore,
  createTakeOneTurn,
  outcomeWords,
  refuseWhileTurn,
  type SessionRow,
  strangerPrompt,
  type Turn,
} from '../chat/index.ts'
import type { OpenLink } from './resolve-link.ts'
import { dayOf, isLive, secondsLeftOfDay } from './rules.ts'
import { publicStore } from './store.ts'
import { holderOfVisitor, type Visitor, type Visitors } from './visitors.ts'

export type TalkDeps = {
  db: Db
  clock: Clock
  dispatch: Pick<Dispatch, 'checkAgent' | 'transaction' | 'enqueue'>
  executions: Pick<Executions, 'watch' | 'inFlight'>
  link: Pick<AgentLink, 'call' | 'isConnected'>
  visitors: Pick<Visitors, 'newVisitor' | 'renew'>
}

/** A turn that was taken in, and who took it. */
export type Taken = { turn: Turn; visitor: Visitor }

export type Talk = {
  /**
   * Takes a turn in; `visitor` null is somebody new. Throws `turn_in_progress`, `daily_cap_reached`,
   * `link_not_found` for a link that was closed meanwhile, and what taking a run in throws.
   */
  take(open: OpenLink, visitor: Visitor | null, asked: PublicChatBody): Promise<Taken>
  /** The reply when the turn has ended. Throws as `Wait` does, without what the agent's faults say. */
  wait(taken: Taken, asking: Asking): Promise<PublicReply>
  /** The newest messages, the oldest of them first. */
  history(visitor: Visitor | null): Promise<History>
  /** Throws `turn_in_progress`. */
  reset(open: OpenLink, visitor: Visitor | null): Promise<{ cleared: boolean; new_session_id: string | null }>
}

export type History = {
  messages: { role: 'user' | 'assistant'; content: string; timestamp: string }[]
  message_count: number
  in_flight_execution_id: string | null
}

const historyMessages = 100

/** Conversations of visitors: each has one, and none has another's. */
export function createTalk(deps: TalkDeps): Talk {
  const { db, clock, dispatch, executions, link: agentLink, visitors } = deps
  const takeOneTurn = createTakeOneTurn(deps)
  const waitForEnd = createWait(deps)

  async function conversationOf(tx: Tx, agentId: string, visitor: Visitor): Promise<SessionRow> {
    const store = chatStore(tx)
    const key = holderOfVisitor(visitor.row)
    const present = await store.current(key)
    // Not one that is being removed because nobody has spoken in it for long.
    if (present && (await store.hold(present.id))) return present
    await store.insertSession(newConversation(agentId, visitor, timestamp(clock.now())))
    const made = await store.current(key)
    if (!made) throw new Error('The conversation of a visitor came and went.')
    return made
  }

  /** Counted where the turn is taken in: one that is refused for another reason costs nothing. */
  async function count(tx: Tx, { link }: OpenLink): Promise<void> {
    const now = clock.now()
    const store = publicStore(tx)
    if (await store.countMessage(link.id, { day: dayOf(now), now: timestamp(now) })) return
    const present = await store.linkByToken(link.token_hash)
    if (!present || !isLive(present, timestamp(now))) throw new Fault('link_not_found')
    throw new Fault('daily_cap_reached', 'No more messages are taken on this link today.', {
      retry_after_seconds: secondsLeftOfDay(now),
    })
  }

  return {
    async take(open, known, { message, files: sent }) {
      const files = checkFiles(sent)
      const fact = await dispatch.checkAgent(open.agent.id).catch(inPlainWords)
      return dispatch
        .transaction(async (tx) => {
          await count(tx, open)
          const visitor = known ?? visitors.newVisitor(open.link)
          const session = await conversationOf(tx, open.agent.id, visitor)
          const turn = await takeOneTurn(tx, fact, session, {
            triggeredBy: 'public',
            message,
            source: { userId: null, userEmail: visitor.row.email, agent: null, key: null },
            systemPrompt: strangerPrompt('a visitor of a public link'),
            model: null,
            files,
            title: null,
          })
          const store = publicStore(tx)
          await store.spoke(visitor.row, turn.row.created_at)
          await store.insertTurn({
            execution_id: turn.row.id,
            link_id: open.link.id,
            token_hash: visitor.tokenHash,
          })
          return { turn, visitor }
        })
        .catch(inPlainWords)
    },

    async wait({ turn, visitor }, asking) {
      const ended = await waitForEnd(turn.row, unprotected, asking).catch(withoutFaults)
      const session = await chatStore(db).session(turn.session.id)
      const isAnswered = ended.status === 'success'
      return {
        response: isAnswered ? ended.response : null,
        session_id: visitor.sessionId,
        execution_id: ended.id,
        message_count: session?.message_count ?? 0,
        ...(isAnswered ? { usage: usageOf(ended) } : {}),
      }
    },

    async history(visitor) {
      const store = chatStore(db)
      const session = visitor && (await store.current(holderOfVisitor(visitor.row)))
      if (!session) return { messages: [], message_count: 0, in_flight_execution_id: null }
      const rows = await store.messages(session.id, historyMessages)
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
        const isThere = session !== null && (await store.hold(session.id))
        if (isThere) {
          await refuseWhileTurn(executions, tx, session.id)
          await store.remove(session.id)
        }
        const new_session_id = visitor.tokenHash === null ? await visitors.renew(tx, visitor) : null
        return { sessionId: isThere ? session.id : null, new_session_id }
      })
      if (done.sessionId !== null && agentLink.isConnected(agent.id)) {
        // An agent that is out of reach ends idle processes by itself.
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
    // There is no account that could be told of answers.
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

/** Elsewhere these sentences tell an owner what to do. */
function inPlainWords(error: unknown): never {
  if (isFault(error, 'agent_not_found')) throw new Fault('link_not_found')
  if (!isFault(error, 'agent_not_running', 'queue_full', 'circuit_open')) throw error
  throw new Fault(error.code, 'The agent is not available at the moment.', error.fields)
}

/** What a runtime says of its faults may name paths, providers and people. */
function withoutFaults(error: unknown): never {
  if (!isFault(error, 'run_failed', 'run_timeout', 'provider_rate_limited', 'sync_wait_exceeded')) throw error
  const { execution_id, error_code = null, status } = error.fields
  const code = typeof error_code === 'string' ? error_code : null
  const words = isFault(error, 'sync_wait_exceeded') ? undefined : outcomeWords(code)
  throw new Fault(error.code, words, { execution_id, error_code, ...(status ? { status } : {}) })
}
