import { ApiError, errorOf } from '@roost/contracts/client'
import {
  createEventParser,
  createLineParser,
  objectOf,
  type StreamObject,
  StreamTooLong,
} from './stream-parsers.ts'
import type { StreamSetting } from './stream-setting.ts'

/** One object; `n` is its line number, null when it is not a stored line. */
export type StreamItem = { n: number | null; object: StreamObject }

/**
 * `opening`: the request is pending. `open`: objects arrive. `waiting`: the connection broke and will reopen.
 * `hidden`: closed until the page is shown.
 */
export type StreamState = 'opening' | 'open' | 'waiting' | 'hidden'

/** Opens a stream after the line `after`; `headers` go into the request. */
export type OpenStream = (request: {
  after: number
  headers: Record<string, string>
  signal: AbortSignal
}) => Promise<Response>

export type ReadOptions = {
  /** The last known line; 0 for none. */
  after?: number
  /** Ends the iteration without an error. */
  signal: AbortSignal
  onState?: (state: StreamState) => void
  setting: StreamSetting
}

/**
 * Reads a stream to its end (`stream_end` or `done`). A broken connection reopens after the last line,
 * without limit; no line is yielded twice. A refused request (4xx) throws its `ApiError`.
 */
export async function* readEvents(
  open: OpenStream,
  options: ReadOptions,
): AsyncGenerator<StreamItem, void, undefined> {
  const { signal, setting, onState = () => {} } = options
  let after = options.after ?? 0
  let failures = 0
  while (!signal.aborted) {
    if (setting.isHidden()) {
      onState('hidden')
      await setting.whenVisible(signal)
      continue
    }
    onState('opening')
    using watched = setting.untilHidden(signal)
    try {
      const headers = {
        accept: 'text/event-stream',
        ...(after > 0 ? { 'last-event-id': String(after) } : {}),
      }
      const response = await open({ after, headers, signal: watched.signal })
      onState('open')
      for await (const item of itemsOf(response)) {
        if (item.n !== null && item.n <= after) continue
        if (isBreak(item)) break
        after = item.n ?? after
        failures = 0
        yield item
        if (isEnd(item)) return
      }
    } catch (error) {
      // A retry would hit the same limit.
      if (isRefusal(error) || error instanceof StreamTooLong) throw error
    }
    if (signal.aborted) return
    if (watched.signal.aborted) continue
    onState('waiting')
    failures += 1
    await setting.wait(backoffMs(failures, setting.random()), signal)
  }
}

/**
 * The objects of one response, as server-sent events or JSON lines by its content type. Throws `ApiError` for
 * an error status, and the connection's own error when it breaks.
 */
export async function* itemsOf(response: Response): AsyncGenerator<StreamItem, void, undefined> {
  if (!response.ok) throw await errorOf(response)
  if (!response.body) return
  const isEvents = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false
  const parser = isEvents ? eventItems() : lineItems()
  const decoder = new TextDecoder()
  const reader = response.body.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      yield* parser.push(decoder.decode(value, { stream: !done }))
      if (!done) continue
      yield* parser.end()
      return
    }
  } finally {
    // Leaving the loop early must end the request too. Its outcome is irrelevant.
    reader.cancel().catch(() => {})
  }
}

/** The platform marks the end; without it the connection broke. */
export function isEnd({ object }: StreamItem): boolean {
  return object.type === 'stream_end' || object.type === 'done'
}

/**
 * A failure of the stream, not of the run: the same lines can be requested again. Errors inside the
 * transcript have a line number.
 */
export function isBreak({ n, object }: StreamItem): boolean {
  return n === null && object.type === 'error' && object.retryable === true
}

/** A repeated request would be refused as well. Rate limits (429) and timeouts (408) are temporary. */
export function isRefusal(error: unknown): error is ApiError {
  if (!(error instanceof ApiError)) return false
  return error.status >= 400 && error.status < 500 && error.status !== 408 && error.status !== 429
}

/** Half a second, doubling to 30 s; half of it random, so that readers do not reconnect together. */
export function backoffMs(failures: number, random: number): number {
  const longest = Math.min(30_000, 500 * 2 ** Math.min(failures - 1, 10))
  return longest / 2 + (longest / 2) * random
}

function eventItems() {
  const parser = createEventParser()
  return {
    push: (text: string) => parser.push(text).flatMap(({ id, data }) => itemOf(data, id)),
    end: () => [],
  }
}

function lineItems() {
  const parser = createLineParser()
  return {
    push: (text: string) => parser.push(text).flatMap((line) => itemOf(line, null)),
    end: () => parser.end().flatMap((line) => itemOf(line, null)),
  }
}

/** Drops keepalives and invalid objects. */
function itemOf(json: string, id: string | null): StreamItem[] {
  const object = objectOf(json)
  if (!object || object.type === 'keepalive') return []
  const n = id === null ? object._n : Number(id)
  return [{ n: typeof n === 'number' && Number.isSafeInteger(n) && n > 0 ? n : null, object }]
}
