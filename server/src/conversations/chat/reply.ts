import type { ChatReply } from '@roost/contracts/conversations/chat'
import { type Clock, timestamp } from '../../kit/clock.ts'
import type { Db } from '../../ports/database/port.ts'
import { type ExecutionRow, logText, metadataOf, storedLines } from '../../runs/executions/index.ts'
import { sessionPart } from './rules.ts'
import { chatStore } from './store.ts'
import type { Turn } from './turn.ts'

export type ReplyDeps = { db: Db; clock: Pick<Clock, 'now'> }

/** The reply object of a turn in its current state. */
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

/** A JSON reply with its transcript, streamed because the transcript may be large. Stops when `signal` aborts. */
export function replyText(db: Db, reply: ChatReply, signal: AbortSignal): AsyncIterable<string> {
  return logText(reply, 'execution_log', storedLines(db, reply.execution.id), signal)
}
