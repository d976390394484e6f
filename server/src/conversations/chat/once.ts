import type { ChatReply } from '@roost/contracts/conversations/chat'
import {
  type Claim,
  ClaimTaken,
  type Idempotency,
  scopeOf,
  type WorkState,
} from '../../foundation/idempotency/index.ts'
import { Fault } from '../../kit/fault.ts'
import { type ExecutionRow, executionStore, isFinal } from '../../runs/executions/index.ts'
import { type ReplyDeps, replyOf } from './reply.ts'
import { holderOf } from './rules.ts'
import type { Party } from './sessions.ts'
import { chatStore } from './store.ts'
import type { createTakeTurn, Turn, TurnAsked } from './turn.ts'

/** A turn that was taken in, or the reply of the one that came before with the same key. */
export type Taken = { turn: Turn; claim: Claim; replay: null } | { turn: null; replay: unknown }

/** So many requests with one key may be faster, one after another. */
const most = 3

/**
 * Takes a turn in once for each key. The holder is part of the key's scope: a reply is private to whom it
 * was given. Throws `request_in_progress`, and what taking a turn in throws; then the key is free again.
 */
export function createTakeOnce(deps: {
  idempotency: Pick<Idempotency, 'open'>
  takeTurn: ReturnType<typeof createTakeTurn>
}) {
  return async function takeOnce(party: Party, asked: TurnAsked, key: string | undefined): Promise<Taken> {
    const family = asked.sessionId === null ? 'chat' : 'session'
    const scope = scopeOf(family, `${party.agent.id}:${holderOf(party.caller)}`, key)
    for (let attempt = 1; attempt <= most; attempt += 1) {
      const { replay, claim } = await deps.idempotency.open(scope)
      if (replay) return { turn: null, replay: replay.body }
      try {
        const within = (tx: Parameters<Claim['take']>[0], execution_id: string) =>
          claim.take(tx, { execution_id })
        return { turn: await deps.takeTurn(party, asked, within), claim, replay: null }
      } catch (error) {
        if (!(error instanceof ClaimTaken)) throw error
      }
    }
    throw new Fault('request_in_progress')
  }
}

/** What has become of a run that a key stands for; the reply of a chat turn can be told from its record. */
export async function workStateOf(deps: ReplyDeps, executionId: string): Promise<WorkState> {
  const row = await executionStore(deps.db).byId(executionId)
  if (!row) return { state: 'void' }
  if (!isFinal(row.status)) return { state: 'open' }
  if (row.status !== 'success') return { state: 'void' }
  const reply = await recordedReply(deps, row)
  return { state: 'done', reply: reply && { status: 200, body: reply } }
}

async function recordedReply(deps: ReplyDeps, row: ExecutionRow): Promise<ChatReply | null> {
  const session = row.session_id === null ? null : await chatStore(deps.db).session(row.session_id)
  return session && replyOf(deps, { row, session, position: 0 }, row)
}
