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
import type { createTakeTurn, Turn, TurnAsked } from './turn.ts'

/** A turn that was taken in, or the reply of the one that came before with the same key. */
export type Taken = { turn: Turn; claim: Claim; replay: null } | { turn: null; replay: unknown }

/**
 * Takes a turn in once for each key. The holder is part of the key's scope: a reply is private to whom it
 * was given. Throws `request_in_progress`, and what taking a turn in throws; then the key is free again.
 */
export function createTakeOnce(deps: {
  idempotency: Pick<Idempotency, 'enter'>
  takeTurn: ReturnType<typeof createTakeTurn>
}) {
  return async function takeOnce(party: Party, asked: TurnAsked, key: string | undefined): Promise<Taken> {
    const family = asked.sessionId === null ? 'chat' : 'session'
    const scope = scopeOf(family, `${party.agent.id}:${holderOf(party.caller)}`, key, asked)
    const entered = await deps.idempotency.enter(scope, (claim) =>
      deps.takeTurn(party, asked, (tx, execution_id) => claim.take(tx, { execution_id })),
    )
    if (entered.replay) return { turn: null, replay: entered.replay.body }
    return { turn: entered.accepted, claim: entered.claim, replay: null }
  }
}

/** What has become of a turn that a key stands for; its reply can be told from its record. */
export function turnState(deps: ReplyDeps): WorkStateOf {
  return async ({ execution_id }) => {
    const row = execution_id === null ? null : await executionStore(deps.db).byId(execution_id)
    // Replies of the Workspace have another shape; it answers for its turns itself.
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
