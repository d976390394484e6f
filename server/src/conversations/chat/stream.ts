import type { ChatReply } from '@roost/contracts/conversations/chat'
import { sentenceOf } from '@roost/contracts/kit/errors'
import type { Log } from '../../ports/log.ts'
import type { ExecutionRow, Executions } from '../../runs/executions/index.ts'
import { errorOf } from '../../runs/waiting/index.ts'
import { type ReplyDeps, replyOf } from './reply.ts'
import type { Turn } from './turn.ts'

export type StreamDeps = ReplyDeps & {
  log: Pick<Log, 'error'>
  executions: Pick<Executions, 'watch'>
}

/** One object of a stream: its JSON text, and its number when it is a stored line. */
export type Item = { text: string; n?: number }

/**
 * A turn as it happens: `accepted`, the transcript with pieces of the answer before their lines,
 * `keepalive` after 15 s of silence, and `done` last.
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
    for await (const told of executions.watch(row.id, { partials: true, signal })) {
      if (told.kind === 'line') yield { text: told.text, n: told.n }
      else if (told.kind === 'partial') yield json(told.partial)
      else if (told.kind === 'quiet') yield json({ type: 'keepalive' })
      else if (told.kind === 'end') {
        const reply = await replyOf(deps, turn, told.row)
        await done(reply)
        yield json({ type: 'done', ...reply, ...failurePart(told.row) })
      }
    }
  } catch (error) {
    // The status is long sent: what is left is to say so and to end in order.
    log.error({ execution_id: row.id, err: error }, 'a chat stream broke off')
    const detail = 'The stream broke off; the turn goes on. Follow its execution.'
    yield json({ type: 'error', error: 'internal_error', message: detail, retryable: true })
  }
}

function failurePart(row: ExecutionRow): object {
  if (row.status === 'success') return {}
  const cancelled = { detail: row.error ?? 'The turn was cancelled.', error_code: row.error_code }
  if (row.status === 'cancelled') return cancelled
  const error = errorOf(row)
  return { detail: row.error ?? sentenceOf(error), error, error_code: row.error_code }
}

/** The stream of a turn that was answered before: its `done` alone. */
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
