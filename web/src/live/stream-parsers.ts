/** One server-sent event: its data, and the id it carried itself (null without one). */
export type ServerEvent = { id: string | null; data: string }

/** Takes text in pieces, however it was cut, and gives what is complete. */
export type Parser<T> = { push(piece: string): T[]; end(): T[] }

/**
 * A line of a stream is at most 1 MiB as the platform stores it; far above that it is not ours, and buffering
 * it would only fill the memory of the browser.
 */
export const maxBufferedLength = 32 * 1024 * 1024

export class StreamTooLong extends Error {
  constructor() {
    super(`A line of the stream is longer than ${maxBufferedLength} characters.`)
    this.name = 'StreamTooLong'
  }
}

/**
 * Complete lines, ended by LF, CR LF or CR. Pieces of a long line are kept apart until its end comes, so that
 * a line of n pieces costs n and not n².
 */
export function createLineParser(): Parser<string> {
  let pieces: string[] = []
  let length = 0
  let isBehindCarriageReturn = false

  function take(last: string): string {
    const line = pieces.length === 0 ? last : pieces.join('') + last
    pieces = []
    length = 0
    return line
  }

  return {
    push(piece) {
      const lines: string[] = []
      // CR and LF may come in two pieces: together they end one line.
      let from = isBehindCarriageReturn && piece.startsWith('\n') ? 1 : 0
      if (piece !== '') isBehindCarriageReturn = false
      const ends = /\r\n|\n|\r/g
      ends.lastIndex = from
      for (let end = ends.exec(piece); end; end = ends.exec(piece)) {
        lines.push(take(piece.slice(from, end.index)))
        from = ends.lastIndex
        isBehindCarriageReturn = end[0] === '\r' && from === piece.length
      }
      if (from < piece.length) {
        pieces.push(piece.slice(from))
        length += piece.length - from
        if (length > maxBufferedLength) throw new StreamTooLong()
      }
      return lines
    },
    end: () => (pieces.length === 0 ? [] : [take('')]),
  }
}

/** Events of `text/event-stream`; comments and unknown fields are passed over, an unfinished one is dropped. */
export function createEventParser(): Parser<ServerEvent> {
  const lines = createLineParser()
  let isFirstLine = true
  let data: string[] = []
  let length = 0
  let id: string | null = null

  function take(): ServerEvent[] {
    const event = data.length === 0 ? [] : [{ id, data: data.join('\n') }]
    data = []
    length = 0
    id = null
    return event
  }

  function read(line: string): ServerEvent[] {
    if (line === '') return take()
    const colon = line.indexOf(':')
    const name = colon === -1 ? line : line.slice(0, colon)
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '')
    if (name === 'id' && !value.includes('\0')) id = value
    if (name !== 'data') return []
    length += value.length
    if (length > maxBufferedLength) throw new StreamTooLong()
    data.push(value)
    return []
  }

  return {
    push: (piece) =>
      lines.push(piece).flatMap((line) => {
        const text = isFirstLine ? line.replace(/^\uFEFF/, '') : line
        isFirstLine = false
        return read(text)
      }),
    end: () => [],
  }
}

/** An object of a stream. Every one of the platform's has a type. */
export type StreamObject = { type: string; [field: string]: unknown }

/** Null for what is not an object with a type: a reader passes over what it does not know. */
export function objectOf(json: string): StreamObject | null {
  try {
    const value: unknown = JSON.parse(json)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    // The check of `type` is what makes the loose record a stream object.
    return isObject && 'type' in value && typeof value.type === 'string' ? (value as StreamObject) : null
  } catch {
    return null
  }
}
