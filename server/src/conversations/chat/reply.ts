import type { ChatReply } from '@roost/contracts/conversations/chat'
import { type Clock, timestamp } from '../../kit/clock.ts'
import type { Db } from '../../ports/database/port.ts'
import { type ExecutionRow, metadataOf } from '../../runs/executions/index.ts'
import { transcriptStore } from '../../runs/transcripts/index.ts'
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

/** The transcript beside a reply that is given alone. */
export async function withLog({ db }: Pick<ReplyDeps, 'db'>, reply: ChatReply): Promise<ChatReply> {
  return { ...reply, execution_log: await transcriptStore(db).all(reply.execution.id) }
}
