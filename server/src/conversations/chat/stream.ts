import type { ChatReply } from '@roost/contracts/conversations/chat'
import { sentenceOf } from '@roost/contracts/kit/errors'
import type { Log } from '../../ports/log.ts'
import type { ExecutionRow, Executions } from '../../runs/executions/index.ts'
import { runErrorCode } from '../../runs/executions/index.ts'
import { type ReplyDeps, replyOf } from './reply.ts'
import type { Turn } from './turn.ts'

export type StreamDeps = ReplyDeps & {
  log: Pick<Log, 'error'>
  executions: Pick<Executions, 'watch'>
}

/** One object of a stream: its JSON text, and its number when it is a stored line. */
export type Item = { text: string; n?: number }

/**
 * Streams a turn: `accepted`, the transcript with partials before their lines, `keepalive` after some silence, and
 * `done` last.
 */
export async function* turnItems(
  deps: StreamDeps,
  turn: Turn,
  options: { signal: AbortSignal; done(reply: ChatReply): Promise<void> },
): AsyncGenerator<Item, void, undefined> {
  const { signal, done } = options
  const { executions, log } = deps
  const { row, session } = turn
  yield json({
    type: 'system',
    subtype: 'accepted',
    execution_id: row.id,
    status: row.status,
    session_id: session.id,
  })
  try {
    for await (const event of executions.watch(row.id, { partials: true, signal })) {
      if (event.kind === 'line') yield { text: event.text, n: event.n }
      else if (event.kind === 'partial') yield json(event.partial)
      else if (event.kind === 'quiet') yield json({ type: 'keepalive' })
      else if (event.kind === 'end') {
        const reply = await replyOf(deps, turn, event.row)
        await done(reply)
        yield json({ type: 'done', ...reply, ...failureFields(event.row) })
      }
    }
  } catch (error) {
    // The status is already sent, so report the error in the stream and end it properly.
    log.error({ execution_id: row.id, err: error }, 'a chat stream broke off')
    const detail = 'The stream broke off; the turn goes on. Follow its execution.'
    yield json({ type: 'error', error: 'internal_error', message: detail, retryable: true })
  }
}

function failureFields(row: ExecutionRow): object {
  if (row.status === 'success') return {}
  const cancelled = { detail: row.error ?? 'The turn was cancelled.', error_code: row.error_code }
  if (row.status === 'cancelled') return cancelled
  const error = runErrorCode(row)
  return { detail: row.error ?? sentenceOf(error), error, error_code: row.error_code }
}

/** The stream of a replayed turn: only its `done`. */
export async function* replayedItems(reply: object): AsyncGenerator<Item, void, undefined> {
  yield json({ type: 'done', ...reply })
}

/** One JSON object per line. */
export async function* asLines(items: AsyncIterable<Item>): AsyncGenerator<string, void, undefined> {
  for await (const { text } of items) yield `${text}\n`
}

/** The same objects as server-sent events, with line numbers as ids. */
export async function* asEvents(items: AsyncIterable<Item>): AsyncGenerator<string, void, undefined> {
  for await (const { text, n } of items) {
    yield n === undefined ? `data: ${text}\n\n` : `id: ${n}\ndata: ${text}\n\n`
  }
}

function json(value: object): Item {
  return { text: JSON.stringify(value) }
}
