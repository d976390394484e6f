import type { ChatReply } from '@roost/contracts/conversations/chat'
import {
  type Claim,
  type Idempotency,
  scopeOf,
  type WorkStateOf,
} from '../../foundation/idempotency/index.ts'
import { holderOf } from '../../runs/dispatch/index.ts'
import { type ExecutionRow, executionStore, isFinal } from '../../runs/executions/index.ts'
import { type ReplyDeps, replyOf } from './reply.ts'
import type { Party } from './sessions.ts'
import { chatStore } from './store.ts'
import type { createAcceptTurn, Turn, TurnRequest } from './turn.ts'

/** An accepted turn, or the reply of the earlier turn with the same key. */
export type AcceptedOnce = { turn: Turn; claim: Claim; replay: null } | { turn: null; replay: unknown }

/**
 * Accepts a turn once for each key. Keys are scoped to the holder, because replies are private. Throws
 * `request_in_progress`, and the faults of accepting a turn; those release the key.
 */
export function createAcceptOnce(deps: {
  idempotency: Pick<Idempotency, 'enter'>
  acceptTurn: ReturnType<typeof createAcceptTurn>
}) {
  return async function acceptOnce(
    party: Party,
    request: TurnRequest,
    key: string | undefined,
  ): Promise<AcceptedOnce> {
    const family = request.sessionId === null ? 'chat' : 'session'
    const scope = scopeOf(family, `${party.agent.id}:${holderOf(party.caller)}`, key, request)
    const entered = await deps.idempotency.enter(scope, (claim) =>
      deps.acceptTurn(party, request, (tx, execution_id) => claim.take(tx, { execution_id })),
    )
    if (entered.replay) return { turn: null, replay: entered.replay.body }
    return { turn: entered.accepted, claim: entered.claim, replay: null }
  }
}

/** Reports the state of a keyed turn; the reply is rebuilt from its execution. */
export function turnState(deps: ReplyDeps): WorkStateOf {
  return async ({ execution_id }) => {
    const row = execution_id === null ? null : await executionStore(deps.db).byId(execution_id)
    // Workspace replies have another shape; that feature reports its own turns.
    if (row?.kind !== 'chat' || row.triggered_by === 'workspace') return null
    if (!isFinal(row.status)) return { state: 'open' }
    if (row.status !== 'success') return { state: 'void' }
    const reply = await recordedReply(deps, row)
    return { state: 'done', reply: reply && { status: 200, body: reply } }
  }
}

async function recordedReply(deps: ReplyDeps, row: ExecutionRow): Promise<ChatReply | null> {
  const session = row.session_id === null ? null : await chatStore(deps.db).session(row.session_id)
  return session && replyOf(deps, { row, session, position: 0 }, row)
}
