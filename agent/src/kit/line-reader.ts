/** One line as read: `bytes` is its true length; `isCut` says that long strings in it were shortened. */
export type RawLine = { text: string; bytes: number; isCut: boolean }

export type LineLimits = {
  /** A line up to here is kept as it is; a longer one has its long strings shortened while it is read. */
  maxBytes: number
  /** What is kept of each string of a too long line. */
  maxStringBytes: number
}
const defaultLimits: LineLimits = { maxBytes: 4 * 1024 * 1024, maxStringBytes: 256 * 1024 }

export type LineReader = {
  push(chunk: Buffer): void
  /** The stream ended: what came after the last newline is a line too. */
  end(): void
}

const newline = 0x0a
const quote = 0x22
const backslash = 0x5c

/**
 * Splits a stream of bytes into lines in bounded memory. A tool may put 50 MB or bytes that are no UTF-8
 * into one line: invalid sequences become U+FFFD, and of a line above `maxBytes` every JSON string is cut
 * to `maxStringBytes`, so that what is left still parses and a result line is still seen as one.
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
    const kept = shortener ? shortener.parts() : parts
    const line = { text: textOf(kept), bytes, isCut: shortener !== null }
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
 * Passes JSON through and leaves out what exceeds the limit inside a string; never splits an escape. It goes
 * from one quote or backslash to the next, which the runtime finds much faster than a loop over bytes would.
 */
function createShortener({ maxBytes, maxStringBytes }: LineLimits): Shortener {
  const kept: Buffer[] = []
  let total = 0
  let inString = false
  let stringBytes = 0
  /** Something of this string was left out, and so is the rest. */
  let isCut = false
  /** Bytes of an escape sequence that are still to come, and whether the next one says how many. */
  let escapeLeft = 0
  let isEscapeStart = false

  function put(piece: Buffer) {
    // More small strings than fit: the rest is lost, and with it the line's JSON.
    if (piece.length === 0 || total + piece.length > maxBytes) return
    total += piece.length
    kept.push(Buffer.from(piece))
  }

  /** Bytes of a string: the part of it that is still within the limit, ending with a whole character. */
  function putText(chunk: Buffer, start: number, end: number) {
    if (isCut) return
    let last = Math.min(end, start + Math.max(0, maxStringBytes - stringBytes))
    while (last < end && ((chunk[last] ?? 0) & 0xc0) === 0x80) last += 1
    put(chunk.subarray(start, last))
    stringBytes += last - start
    isCut = last < end
  }

  /** The rest of an escape sequence, which may lie in the next chunk; kept if its beginning was. */
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
    parts: () => kept,
  }
}

const letterU = 0x75

/** Where `byte` comes next, or the chunk's end; looked for once for each place where it is. */
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
