import {
  isBreak,
  isEnd,
  isRefusal,
  itemsOf,
  type OpenStream,
  type ReadOptions,
  readEvents,
  type StreamItem,
} from './stream.ts'

export type TurnOptions = Omit<ReadOptions, 'after'> & {
  /** Opens the stream of the run for resuming. */
  follow(executionId: string): OpenStream
  /** Called once, as soon as the run is known. */
  onExecution?: (executionId: string) => void
}

/**
 * Streams a chat turn. `send` runs once: a message that may have arrived is never sent again. After a break
 * or a long hidden time it follows the run instead, which yields whole blocks and `stream_end`. Throws
 * `ApiError` when the turn is refused, else what `fetch` throws.
 */
export async function* readTurn(
  send: (request: { headers: Record<string, string>; signal: AbortSignal }) => Promise<Response>,
  options: TurnOptions,
): AsyncGenerator<StreamItem, void, undefined> {
  const { signal, setting, onState = () => {}, onExecution = () => {} } = options
  let executionId: string | null = null
  let after = 0

  onState('opening')
  {
    using watched = setting.untilHidden(signal)
    // Not aborted before the response arrives: otherwise it is unknown whether the turn began.
    const cut = new AbortController()
    const until = AbortSignal.any([signal, cut.signal])
    const response = await send({ headers: { accept: 'application/x-ndjson' }, signal: until })
    if (watched.signal.aborted) cut.abort()
    watched.signal.addEventListener('abort', () => cut.abort(), { once: true })
    const named = response.headers.get('x-execution-id')
    try {
      for await (const item of itemsOf(response)) {
        const id: unknown = item.object.execution_id ?? named
        if (executionId === null && typeof id === 'string') {
          executionId = id
          onExecution(id)
          onState('open')
        }
        if (isBreak(item)) break
        after = item.n ?? after
        yield item
        if (isEnd(item)) return
      }
    } catch (error) {
      if (!response.ok || isRefusal(error) || (executionId ?? named) === null) throw error
    }
    executionId ??= named
  }
  if (signal.aborted || executionId === null) return
  yield* readEvents(options.follow(executionId), { after, signal, setting, onState })
}
