import type { Log } from '../../ports/log.ts'
import type { PlacedPiece } from '../transcripts/index.ts'
import type { Watch } from './watch.ts'

/**
 * A run as server-sent events: `id` is the line number, `data` one transcript object, a comment every
 * 15 s of silence, and `stream_end` last. With `partials`, pieces of the block that is being written come
 * without an id, the first with all that was written of it. `isShown` false withholds all but the end; `only`
 * says what of a line is shown, and of which pieces, to somebody who may not have all.
 */
export async function* executionEvents(
  watch: Watch,
  executionId: string,
  options: {
    after: number
    partials: boolean
    isShown: boolean
    only?: { line(text: string): string | null; pieces: PlacedPiece['kind'] }
    signal: AbortSignal
    log: Pick<Log, 'error'>
  },
): AsyncGenerator<string, void, undefined> {
  const { after, isShown, only, signal, log } = options
  const partials = options.partials && isShown ? 'whole' : false
  try {
    for await (const told of watch(executionId, { after, partials, lines: isShown, signal })) {
      if (told.kind === 'line') {
        const text = only ? only.line(told.text) : told.text
        if (text !== null) yield `id: ${told.n}\ndata: ${text}\n\n`
      } else if (told.kind === 'partial') {
        if (!only || told.partial.kind === only.pieces) yield event(told.partial)
      } else if (told.kind === 'quiet') yield ': keepalive\n\n'
      else if (told.kind === 'end') {
        const withheld = isShown ? {} : { redacted: true }
        yield event({ type: 'stream_end', status: told.row.status, execution_id: executionId, ...withheld })
      }
    }
  } catch (error) {
    log.error({ execution_id: executionId, err: error }, 'the stream of a run broke off')
    // The status is long sent: what is left is to say so and to end in order.
    yield event({ type: 'error', error: 'internal_error', message: 'The stream broke off.', retryable: true })
    yield event({ type: 'stream_end', status: 'unknown', execution_id: executionId })
  }
}

function event(data: object): string {
  return `data: ${JSON.stringify(data)}\n\n`
}

/** The line behind which a reader goes on: the header of a reconnecting browser, else the query. */
export function resumeAfter(lastEventId: string | undefined, after: number): number {
  return lastEventId !== undefined && /^\d{1,9}$/.test(lastEventId) ? Number(lastEventId) : after
}

export const streamHeaders = { 'cache-control': 'no-cache', 'x-accel-buffering': 'no' }
