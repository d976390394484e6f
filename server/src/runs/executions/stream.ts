import type { Log } from '../../ports/log.ts'
import type { PlacedPiece } from '../transcripts/index.ts'
import { logRemovedAt } from './rules.ts'
import type { Watch } from './watch.ts'

/**
 * A run as server-sent events: one transcript line each with its number as `id`, a comment per 15 s of
 * silence, `stream_end` last. With `partials` pieces of the open block come without id. `isShown` false
 * withholds everything but the end; `only` filters lines and pieces.
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
    for await (const item of watch(executionId, { after, partials, lines: isShown, signal })) {
      if (item.kind === 'line') {
        const text = only ? only.line(item.text) : item.text
        if (text !== null) yield `id: ${item.n}\ndata: ${text}\n\n`
      } else if (item.kind === 'partial') {
        if (!only || item.partial.kind === only.pieces) yield event(item.partial)
      } else if (item.kind === 'quiet') yield ': keepalive\n\n'
      else if (item.kind === 'end') {
        const withheld = isShown ? {} : { redacted: true }
        const removedAt = logRemovedAt(item.row)
        const removed = removedAt === null ? {} : { log_removed_at: removedAt }
        const status = item.row.status
        yield event({ type: 'stream_end', status, execution_id: executionId, ...withheld, ...removed })
      }
    }
  } catch (error) {
    log.error({ execution_id: executionId, err: error }, 'the stream of a run broke off')
    // The status was sent long ago, so the error is an event before a regular end.
    yield event({ type: 'error', error: 'internal_error', message: 'The stream broke off.', retryable: true })
    yield event({ type: 'stream_end', status: 'unknown', execution_id: executionId })
  }
}

function event(data: object): string {
  return `data: ${JSON.stringify(data)}\n\n`
}

/** The line after which a reader resumes: the header of a reconnecting browser, else the query. */
export function resumeAfter(lastEventId: string | undefined, after: number): number {
  return lastEventId !== undefined && /^\d{1,9}$/.test(lastEventId) ? Number(lastEventId) : after
}

export const streamHeaders = { 'cache-control': 'no-cache', 'x-accel-buffering': 'no' }
