import type { ChatReply } from '@roost/contracts/conversations/chat'
import { type Clock, timestamp } from '../../kit/clock.ts'
import type { Db } from '../../ports/database/port.ts'
import { type ExecutionRow, logText, metadataOf, storedLines } from '../../runs/executions/index.ts'
import { sessionPart } from './rules.ts'
import { chatStore } from './store.ts'
import type { Turn } from './turn.ts'

export type ReplyDeps = { db: Db; clock: Pick<Clock, 'now'> }

/** The reply object of a turn, as it is now. */
export async function replyOf({ db, clock }: ReplyDeps, turn: Turn, row: ExecutionRow): Promise<ChatReply> {
  const session = (await chatStore(db).session(turn.session.id)) ?? turn.session
  return {
    status: row.status,
    response: row.status === 'success' ? row.response : null,
    metadata: metadataOf(row),
    session: sessionPart(session),
    execution: {
      id: row.id,
      task_execution_id: row.id,
      status: row.status,
      queue_status: turn.position === 0 ? 'running' : `queued:${turn.position}`,
      was_queued: turn.position > 0,
    },
    timestamp: timestamp(clock.now()),
  }
}

/**
 * A reply that is given alone, with its transcript, as JSON text: it may be larger than what should be held of it.
 * Breaks off with `signal`.
 */
export function replyText(db: Db, reply: ChatReply, signal: AbortSignal): AsyncIterable<string> {
  return logText(reply, 'execution_log', storedLines(db, reply.execution.id), signal)
}
