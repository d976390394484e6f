import type { WorkspaceChatBody } from '@roost/contracts/conversations/workspace-turns'
import type { Agent } from '../../agents/records/index.ts'
import {
  type Claim,
  type Idempotency,
  scopeOf,
  type WorkStateOf,
} from '../../foundation/idempotency/index.ts'
import { type RateLimits, rateRules } from '../../foundation/rate-limits/index.ts'
import type { Clock } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import { checkFiles } from '../../runs/attachments/index.ts'
import { type Dispatch, modelOf, sourceOf } from '../../runs/dispatch/index.ts'
import { type ExecutionRow, type Executions, executionStore, isFinal } from '../../runs/executions/index.ts'
import { chatStore, createTakeOneTurn, type SessionRow, type Turn, titleOf } from '../chat/index.ts'
import type { Conversations } from './conversations.ts'
import type { Principal } from './principal.ts'
import { isMain } from './shown.ts'
import { workspaceStore } from './store.ts'

export type TurnsDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  limits: Pick<RateLimits, 'use'>
  dispatch: Pick<Dispatch, 'checkAgent' | 'transaction' | 'enqueue'>
  executions: Pick<Executions, 'find' | 'inFlight'>
  idempotency: Pick<Idempotency, 'enter'>
  conversations: Conversations
}

/** The reply of a turn that was answered. */
export type TurnReply = {
  response: string | null
  session_id: string
  message_id: string | null
  execution_id: string
}
export type TakenTurn = { turn: Turn; claim: Claim; replay: null } | { turn: null; replay: unknown }

export type Turns = {
  /**
   * Takes a turn in, once for each key. Throws `turn_in_progress` with the run that is going on, `conflict` for an
   * archived conversation, `rate_limited`, and what taking a run in throws.
   */
  take(who: Principal, agent: Agent, asked: WorkspaceChatBody, key: string | undefined): Promise<TakenTurn>
  replyOf(row: ExecutionRow): Promise<TurnReply>
  /** Of a turn in an own conversation. Throws `execution_not_found`. */
  own(who: Principal, agentId: string, executionId: string): Promise<ExecutionRow>
  workState: WorkStateOf
}

/** One turn at a time in each conversation, and what is known of it afterwards. */
export function createTurns(deps: TurnsDeps): Turns {
  const { db, limits, dispatch, executions, idempotency, conversations } = deps
  const takeOneTurn = createTakeOneTurn(deps)

  async function sessionFor(
    tx: Tx,
    who: Principal,
    agentId: string,
    asked: WorkspaceChatBody,
  ): Promise<SessionRow> {
    if (asked.new_thread) return conversations.beginIn(tx, who, agentId)
    if (asked.session_id) return conversations.own(who, agentId, asked.session_id, tx)
    return conversations.ensureMain(tx, who, agentId)
  }

  async function accept(
    who: Principal,
    agent: Agent,
    asked: WorkspaceChatBody,
    within: Within,
  ): Promise<Turn> {
    const model = modelOf(asked.model)
    const files = checkFiles(asked.files)
    const fact = await dispatch.checkAgent(agent.id)
    return dispatch.transaction(async (tx) => {
      const session = await sessionFor(tx, who, agent.id, asked)
      const isNamed = session.title !== null || isMain(session)
      const turn = await takeOneTurn(tx, fact, session, {
        triggeredBy: 'workspace',
        message: asked.message,
        source: sourceOf(who.caller, null),
        note: openCanvas(asked.open_canvas_id),
        model,
        files,
        title: isNamed ? null : titleOf(asked.message),
      })
      // Whoever answers has read what came before.
      const count = (await chatStore(tx).session(session.id))?.message_count ?? 0
      await workspaceStore(tx).read(session.id, count)
      await within(tx, turn.row.id)
      return turn
    })
  }

  async function replyOf(row: ExecutionRow): Promise<TurnReply> {
    const answer = await chatStore(db).messageOf(row.id, 'assistant')
    return {
      response: row.status === 'success' ? row.response : null,
      session_id: row.session_id ?? '',
      message_id: answer?.id ?? null,
      execution_id: row.id,
    }
  }

  return {
    replyOf,

    async take(who, agent, asked, key) {
      const subject = `${who.holder}:${agent.id}`
      const scope = scopeOf('workspace', subject, key, asked)
      const entered = await idempotency.enter(scope, async (claim) => {
        // A repeated request is none: it is told what became of the first.
        await limits.use(rateRules.workspaceChatMinute, subject)
        await limits.use(rateRules.workspaceChatHour, subject)
        return accept(who, agent, asked, (tx, execution_id) => claim.take(tx, { execution_id }))
      })
      if (entered.replay) return { turn: null, replay: entered.replay.body }
      return { turn: entered.accepted, claim: entered.claim, replay: null }
    },

    async own(who, agentId, executionId) {
      const row = await executions.find({ caller: who.caller, agentId, relation: 'shared' }, executionId)
      const session = row.session_id === null ? null : await chatStore(db).session(row.session_id)
      const isOwn = session?.kind === 'workspace' && session.holder_id === who.holder
      if (row.kind !== 'chat' || !isOwn) throw new Fault('execution_not_found')
      return row
    },

    async workState({ execution_id }) {
      const row = execution_id === null ? null : await executionStore(db).byId(execution_id)
      if (row?.triggered_by !== 'workspace') return null
      if (!isFinal(row.status)) return { state: 'open' }
      if (row.status !== 'success') return { state: 'void' }
      return { state: 'done', reply: { status: 200, body: await replyOf(row) } }
    },
  }
}

/** Their words may be about what they look at. */
function openCanvas(canvasId: string | null | undefined): string | null {
  return canvasId ? `(The person has your canvas "${canvasId}" open beside this conversation.)` : null
}

type Within = (tx: Tx, executionId: string) => Promise<void>
