/** One server-sent event: its data and its id (null without one). */
export type ServerEvent = { id: string | null; data: string }

/** Takes text in chunks and returns the complete items. */
export type Parser<T> = { push(piece: string): T[]; end(): T[] }

/**
 * The platform stores lines of at most 1 MiB. A far longer line is not from the platform and would fill the
 * browser's memory.
 */
export const maxBufferedLength = 32 * 1024 * 1024

export class StreamTooLong extends Error {
  constructor() {
    super(`A line of the stream is longer than ${maxBufferedLength} characters.`)
    this.name = 'StreamTooLong'
  }
}

/**
 * Lines that end in LF, CR LF or CR. Chunks of a long line are joined once at its end, which keeps the cost
 * linear.
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
      // CR and LF of one line end may arrive in two chunks.
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

/** Events of `text/event-stream`. Ignores comments and unknown fields, drops an incomplete event. */
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

/** A stream object. All objects of the platform have a type. */
export type StreamObject = { type: string; [field: string]: unknown }

/** Null for anything but an object with a type; readers skip unknown input. */
export function objectOf(json: string): StreamObject | null {
  try {
    const value: unknown = JSON.parse(json)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    // The check of `type` justifies the cast.
    return isObject && 'type' in value && typeof value.type === 'string' ? (value as StreamObject) : null
  } catch {
    return null
  }
}
