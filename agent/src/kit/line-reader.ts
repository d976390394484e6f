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

/** Passes JSON through and leaves out what exceeds the limit inside a string; never splits an escape. */
function createShortener({ maxBytes, maxStringBytes }: LineLimits): Shortener {
  const kept: Buffer[] = []
  let total = 0
  let inString = false
  let isDropping = false
  let stringBytes = 0
  /** Bytes of the escape sequence that still follow: 1 behind a backslash, 4 behind `\u`. */
  let escapeLeft = 0
  let isEscapeStart = false

  function put(piece: Buffer) {
    // More small strings than fit: the rest is lost, and with it the line's JSON.
    if (piece.length === 0 || total + piece.length > maxBytes) return
    total += piece.length
    kept.push(Buffer.from(piece))
  }

  return {
    push(chunk) {
      let start = 0
      for (let index = 0; index < chunk.length; index += 1) {
        const byte = chunk[index] ?? 0
        if (!inString) {
          if (byte === quote) {
            inString = true
            stringBytes = 0
          }
          continue
        }
        const isBoundary = escapeLeft === 0
        if (isBoundary && byte === quote) {
          if (isDropping) start = index
          inString = false
          isDropping = false
          continue
        }
        if (isBoundary && !isDropping && stringBytes >= maxStringBytes && (byte & 0xc0) !== 0x80) {
          put(chunk.subarray(start, index))
          isDropping = true
        }
        stringBytes += 1
        if (isBoundary) {
          if (byte === backslash) {
            escapeLeft = 1
            isEscapeStart = true
          }
        } else if (isEscapeStart) {
          isEscapeStart = false
          escapeLeft = byte === 0x75 ? 4 : 0
        } else escapeLeft -= 1
      }
      if (!isDropping) put(chunk.subarray(start))
    },
    parts: () => kept,
  }
}
