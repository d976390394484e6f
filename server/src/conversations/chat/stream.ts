import { sentenceOf } from '@roost/contracts/kit/errors'
import type { Log } from '../../ports/log.ts'
import type { ExecutionRow } from '../../runs/executions/index.ts'
import { errorOf, type ReplyDeps, replyOf } from './reply.ts'
import type { Turn } from './turn.ts'

export type StreamDeps = ReplyDeps & { log: Pick<Log, 'error'> }

/** One object of a stream: its JSON text, and its number when it is a stored line. */
type Item = { text: string; n?: number }

/**
 * A turn as it happens: `accepted`, the transcript with pieces of the answer before their lines,
 * `keepalive` after 15 s of silence, and `done` last.
 */
async function* items(
  deps: StreamDeps,
  turn: Turn,
  signal: AbortSignal,
): AsyncGenerator<Item, void, undefined> {
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
        yield json({ type: 'done', ...(await replyOf(deps, turn, told.row)), ...failurePart(told.row) })
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

/** One JSON object per line. */
export async function* asLines(deps: StreamDeps, turn: Turn, signal: AbortSignal) {
  for await (const { text } of items(deps, turn, signal)) yield `${text}\n`
}

/** The same objects as server-sent events, with line numbers as ids. */
export async function* asEvents(deps: StreamDeps, turn: Turn, signal: AbortSignal) {
  for await (const { text, n } of items(deps, turn, signal)) {
    yield n === undefined ? `data: ${text}\n\n` : `id: ${n}\ndata: ${text}\n\n`
  }
}

function json(value: object): Item {
  return { text: JSON.stringify(value) }
}
