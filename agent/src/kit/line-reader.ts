/** One line. `bytes` is its original length; `isCut` is true when long strings in it were truncated. */
export type RawLine = { text: string; bytes: number; isCut: boolean }

export type LineLimits = {
  /** Longest line that is kept unchanged. Longer lines have their long strings truncated while being read. */
  maxBytes: number
  /** Bytes kept of each string in a line that is too long. */
  maxStringBytes: number
}
const defaultLimits: LineLimits = { maxBytes: 4 * 1024 * 1024, maxStringBytes: 256 * 1024 }

export type LineReader = {
  push(chunk: Buffer): void
  /** Ends the stream: the text after the last newline is a line too. */
  end(): void
}

const newline = 0x0a
const quote = 0x22
const backslash = 0x5c

/**
 * Splits a byte stream into lines with bounded memory. A tool may write 50 MB or invalid UTF-8 into one line.
 * Invalid sequences become U+FFFD. Lines above `maxBytes` have each JSON string cut to `maxStringBytes`, so
 * they still parse.
 */
export function createLineReader(
  onLine: (line: RawLine) => void,
  limits: LineLimits = defaultLimits,
): LineReader {
  let parts: Buffer[] = []
  let bytes = 0
  let shortener: Shortener | null = null

  function keep(piece: Buffer) {
    bytes += piece.length
    if (shortener) return shortener.push(piece)
    parts.push(piece)
    if (bytes <= limits.maxBytes) return
    shortener = createShortener(limits)
    for (const part of parts) shortener.push(part)
    parts = []
  }

  function finish() {
    const content = shortener ? shortener.parts() : parts
    const line = { text: textOf(content), bytes, isCut: shortener !== null }
    parts = []
    bytes = 0
    shortener = null
    if (line.text.trim() !== '') onLine(line)
  }

  return {
    push(chunk) {
      let start = 0
      for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
        keep(chunk.subarray(start, end))
        finish()
        start = end + 1
      }
      if (start < chunk.length) keep(chunk.subarray(start))
    },
    end() {
      if (bytes > 0) finish()
    },
  }
}

function textOf(parts: Buffer[]): string {
  return (parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts)).toString('utf8')
}

type Shortener = { push(chunk: Buffer): void; parts(): Buffer[] }

/**
 * Passes JSON through and drops the part of each string above the limit. Never splits an escape sequence.
 * Jumps between quotes and backslashes, because `indexOf` is much faster than a byte loop.
 */
function createShortener({ maxBytes, maxStringBytes }: LineLimits): Shortener {
  const output: Buffer[] = []
  let total = 0
  let inString = false
  let stringBytes = 0
  /** True once part of the current string was dropped; the rest of it is dropped too. */
  let isCut = false
  /** Remaining bytes of an escape sequence, and whether its next byte determines the length. */
  let escapeLeft = 0
  let isEscapeStart = false

  function put(piece: Buffer) {
    // With too many small strings the rest is dropped, and the JSON becomes invalid.
    if (piece.length === 0 || total + piece.length > maxBytes) return
    total += piece.length
    output.push(Buffer.from(piece))
  }

  /** Writes the part of a string that is within the limit, up to a whole character. */
  function putText(chunk: Buffer, start: number, end: number) {
    if (isCut) return
    let last = Math.min(end, start + Math.max(0, maxStringBytes - stringBytes))
    while (last < end && ((chunk[last] ?? 0) & 0xc0) === 0x80) last += 1
    put(chunk.subarray(start, last))
    stringBytes += last - start
    isCut = last < end
  }

  /**
   * Passes the rest of an escape sequence, possibly from the next chunk. Writes it if its beginning was
   * written.
   */
  function passEscape(chunk: Buffer, start: number): number {
    let index = start
    for (; index < chunk.length && (isEscapeStart || escapeLeft > 0); index += 1) {
      if (isEscapeStart) {
        isEscapeStart = false
        escapeLeft = chunk[index] === letterU ? 4 : 0
      } else escapeLeft -= 1
    }
    if (!isCut) put(chunk.subarray(start, index))
    stringBytes += index - start
    return index
  }

  return {
    push(chunk) {
      const quotes = createFinder(chunk, quote)
      const backslashes = createFinder(chunk, backslash)
      let index = 0
      while (index < chunk.length) {
        if (isEscapeStart || escapeLeft > 0) {
          index = passEscape(chunk, index)
          continue
        }
        const nextQuote = quotes.from(index)
        if (!inString) {
          put(chunk.subarray(index, nextQuote + 1))
          index = nextQuote + 1
          inString = nextQuote < chunk.length
          stringBytes = 0
          isCut = false
          continue
        }
        const next = Math.min(nextQuote, backslashes.from(index))
        putText(chunk, index, next)
        index = next
        if (next === chunk.length) break
        if (chunk[next] === quote) {
          put(chunk.subarray(next, next + 1))
          inString = false
        } else {
          isCut ||= stringBytes >= maxStringBytes
          isEscapeStart = true
          if (!isCut) put(chunk.subarray(next, next + 1))
          stringBytes += 1
        }
        index = next + 1
      }
    },
    parts: () => output,
  }
}

const letterU = 0x75

/** Finds the next `byte`, or the chunk's end. Remembers the position, so each occurrence is searched once. */
function createFinder(chunk: Buffer, byte: number): { from(index: number): number } {
  let found = -1
  return {
    from(index) {
      if (found < index) {
        found = chunk.indexOf(byte, index)
        if (found === -1) found = chunk.length
      }
      return found
    },
  }
}
