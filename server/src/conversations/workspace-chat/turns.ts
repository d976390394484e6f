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
import { chatStore, createAcceptSerialTurn, type SessionRow, type Turn, titleOf } from '../chat/index.ts'
import type { Conversations } from './conversations.ts'
import type { Principal } from './principal.ts'
import { workspaceStore } from './store.ts'
import { isMain } from './views.ts'

export type TurnsDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  limits: Pick<RateLimits, 'use'>
  dispatch: Pick<Dispatch, 'checkAgent' | 'transaction' | 'enqueue'>
  executions: Pick<Executions, 'find' | 'inFlight'>
  idempotency: Pick<Idempotency, 'enter'>
  conversations: Conversations
}

/** The reply of a successful turn. */
export type TurnReply = {
  response: string | null
  session_id: string
  message_id: string | null
  execution_id: string
}
export type AcceptedTurn = { turn: Turn; claim: Claim; replay: null } | { turn: null; replay: unknown }

export type Turns = {
  /**
   * Accepts a turn once for each key. Throws `turn_in_progress` with the running execution, `conflict` for an archived
   * conversation, `rate_limited`, and the faults of accepting a run.
   */
  accept(
    principal: Principal,
    agent: Agent,
    body: WorkspaceChatBody,
    key: string | undefined,
  ): Promise<AcceptedTurn>
  replyOf(row: ExecutionRow): Promise<TurnReply>
  /** The execution of a turn in an own conversation. Throws `execution_not_found`. */
  own(principal: Principal, agentId: string, executionId: string): Promise<ExecutionRow>
  workState: WorkStateOf
}

/** Accepts turns, one at a time in each conversation, and finds them again. */
export function createTurns(deps: TurnsDeps): Turns {
  const { db, limits, dispatch, executions, idempotency, conversations } = deps
  const acceptSerialTurn = createAcceptSerialTurn(deps)

  async function sessionFor(
    tx: Tx,
    principal: Principal,
    agentId: string,
    body: WorkspaceChatBody,
  ): Promise<SessionRow> {
    if (body.new_thread) return conversations.createOther(tx, principal, agentId)
    if (body.session_id) return conversations.own(principal, agentId, body.session_id, tx)
    return conversations.ensureMain(tx, principal, agentId)
  }

  async function acceptTurn(
    principal: Principal,
    agent: Agent,
    body: WorkspaceChatBody,
    within: Within,
  ): Promise<Turn> {
    const model = modelOf(body.model)
    const files = checkFiles(body.files)
    const agentContext = await dispatch.checkAgent(agent.id)
    return dispatch.transaction(async (tx) => {
      const session = await sessionFor(tx, principal, agent.id, body)
      const isNamed = session.title !== null || isMain(session)
      const turn = await acceptSerialTurn(tx, agentContext, session, {
        triggeredBy: 'workspace',
        message: body.message,
        source: sourceOf(principal.caller, null),
        note: openCanvasNote(body.open_canvas_id),
        model,
        files,
        title: isNamed ? null : titleOf(body.message),
      })
      // A person who writes has read the earlier messages.
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

    async accept(principal, agent, body, key) {
      const subject = `${principal.holder}:${agent.id}`
      const scope = scopeOf('workspace', subject, key, body)
      const entered = await idempotency.enter(scope, async (claim) => {
        // A repeated request starts no new turn, so it does not count.
        await limits.use(rateRules.workspaceChatMinute, subject)
        await limits.use(rateRules.workspaceChatHour, subject)
        return acceptTurn(principal, agent, body, (tx, execution_id) => claim.take(tx, { execution_id }))
      })
      if (entered.replay) return { turn: null, replay: entered.replay.body }
      return { turn: entered.accepted, claim: entered.claim, replay: null }
    },

    async own(principal, agentId, executionId) {
      const row = await executions.find(
        { caller: principal.caller, agentId, relation: 'shared' },
        executionId,
      )
      const session = row.session_id === null ? null : await chatStore(db).session(row.session_id)
      const isOwn = session?.kind === 'workspace' && session.holder_id === principal.holder
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

/** Tells the agent which canvas the person's message may refer to. */
function openCanvasNote(canvasId: string | null | undefined): string | null {
  return canvasId ? `(The person has your canvas "${canvasId}" open beside this conversation.)` : null
}

type Within = (tx: Tx, executionId: string) => Promise<void>
