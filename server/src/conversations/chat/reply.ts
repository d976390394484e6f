import type { ChatReply } from '@roost/contracts/conversations/chat'
import type { ErrorCode } from '@roost/contracts/kit/errors'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import type { Db } from '../../ports/database/port.ts'
import { type ExecutionRow, type Executions, metadataOf } from '../../runs/executions/index.ts'
import { transcriptStore } from '../../runs/transcripts/index.ts'
import { sessionPart } from './rules.ts'
import { chatStore } from './store.ts'
import type { Turn } from './turn.ts'

export type ReplyDeps = { db: Db; clock: Clock; executions: Pick<Executions, 'watch'> }

/** How a failed run is answered where its status is still open. */
export function errorOf(row: Pick<ExecutionRow, 'error_code'>): ErrorCode {
  if (row.error_code === 'timeout' || row.error_code === 'stalled') return 'run_timeout'
  return row.error_code === 'rate_limited' ? 'provider_rate_limited' : 'run_failed'
}

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

/**
 * Waits for the end of a turn and gives the reply alone. Throws `run_failed`, `run_timeout`,
 * `provider_rate_limited` for a failed one, and `sync_wait_exceeded` after twice the turn's timeout; a
 * cancelled one is a reply. Null when the client goes away first: the turn goes on.
 */
export async function waitForReply(
  deps: ReplyDeps,
  turn: Turn,
  signal: AbortSignal,
): Promise<ChatReply | null> {
  const { clock, executions } = deps
  const waited = new AbortController()
  const longest = clock.wait(turn.row.timeout_seconds * 2000, waited.signal).then(() => waited.abort())
  try {
    const until = AbortSignal.any([signal, waited.signal])
    for await (const told of executions.watch(turn.row.id, { lines: false, signal: until })) {
      if (told.kind !== 'end') continue
      if (told.row.status === 'failed') throw failureOf(told.row)
      return replyOf(deps, turn, told.row)
    }
    if (signal.aborted) return null
    throw new Fault('sync_wait_exceeded', undefined, { status: 'queued_timeout', execution_id: turn.row.id })
  } finally {
    waited.abort()
    await longest
  }
}

function failureOf(row: ExecutionRow): Fault {
  return new Fault(errorOf(row), row.error ?? undefined, {
    execution_id: row.id,
    error_code: row.error_code,
  })
}
