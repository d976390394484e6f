import { ApiError, errorOf } from '@roost/contracts/client'
import {
  createEventParser,
  createLineParser,
  objectOf,
  type StreamObject,
  StreamTooLong,
} from './stream-parsers.ts'
import type { StreamSetting } from './stream-setting.ts'

/** One object, with its line number when it is a stored line. */
export type StreamItem = { n: number | null; object: StreamObject }

/**
 * - `opening`: a request is under way
 * - `open`: objects come as they happen
 * - `waiting`: the connection broke; it is opened again by itself
 * - `hidden`: nobody looks, so nothing is open; it goes on when the page is looked at
 */
export type StreamState = 'opening' | 'open' | 'waiting' | 'hidden'

/** How a stream is opened, behind the line `after`: `headers` go into the request. */
export type OpenStream = (request: {
  after: number
  headers: Record<string, string>
  signal: AbortSignal
}) => Promise<Response>

export type ReadOptions = {
  /** Behind this line; 0 for all. */
  after?: number
  /** Ends the iteration, without an error. */
  signal: AbortSignal
  onState?: (state: StreamState) => void
  setting: StreamSetting
}

/**
 * A stream to its end: `stream_end` or `done` is the last object given. A connection that breaks before that is
 * opened again behind the last line, as often as it takes; no line is given twice. A request that is refused
 * (4xx) throws its `ApiError`.
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
      // Asked again, it would be as long again.
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
 * The objects of one response, as events or as JSON lines by its content type; throws `ApiError` for an error
 * status, and what the connection throws when it breaks.
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
    // Leaving the loop early must end the request too; there is nobody left to hear how that went.
    reader.cancel().catch(() => {})
  }
}

/** The end as the platform tells it; without one the connection broke. */
export function isEnd({ object }: StreamItem): boolean {
  return object.type === 'stream_end' || object.type === 'done'
}

/**
 * A fault of the stream itself: the run goes on and the same lines can be asked for again. Lines of the
 * transcript that tell of an error are numbered.
 */
export function isBreak({ n, object }: StreamItem): boolean {
  return n === null && object.type === 'error' && object.retryable === true
}

/** Refused: the same request would be refused again. A limit and a timeout pass by themselves. */
export function isRefusal(error: unknown): error is ApiError {
  if (!(error instanceof ApiError)) return false
  return error.status >= 400 && error.status < 500 && error.status !== 408 && error.status !== 429
}

/** Half a second, doubling to half a minute; of that between half and all, so that readers do not come at once. */
export function backoffMs(failures: number, random: number): number {
  const most = Math.min(30_000, 500 * 2 ** Math.min(failures - 1, 10))
  return most / 2 + (most / 2) * random
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

/** Nothing for keepalives and for what is no object: both only say that somebody is there. */
function itemOf(json: string, id: string | null): StreamItem[] {
  const object = objectOf(json)
  if (!object || object.type === 'keepalive') return []
  const n = id === null ? object._n : Number(id)
  return [{ n: typeof n === 'number' && Number.isSafeInteger(n) && n > 0 ? n : null, object }]
}
