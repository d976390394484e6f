import { Transform } from 'node:stream'

/** Shorter prefixes are not held back: a response that ends this way would stall. */
const minHeldBytes = 4

/**
 * Masks secrets in a stream byte for byte, so the length stays. Holds back only a possible prefix of a
 * secret. The first three bytes of a secret that arrives in pieces may already have been sent.
 */
export function createMask(secrets: readonly string[]): Transform {
  const patterns = secrets.map((text) => Buffer.from(text, 'latin1')).filter(({ length }) => length > 0)
  /** The last bytes sent, and the bytes held back. */
  let sentTail = Buffer.alloc(0)
  let pending = Buffer.alloc(0)
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const bytes = Buffer.concat([sentTail, pending, chunk])
      maskIn(bytes, patterns)
      const from = sentTail.length
      const prefixStarts = patterns.map((pattern) => prefixStart(bytes, pattern))
      const end = Math.max(from, Math.min(...prefixStarts, bytes.length))
      sentTail = bytes.subarray(Math.max(0, end - minHeldBytes + 1), end)
      pending = bytes.subarray(end)
      done(null, bytes.subarray(from, end))
    },
    flush(done) {
      done(null, pending)
    },
  })
}

/** Masks a complete text. */
export function maskText(text: string, secrets: readonly string[]): string {
  return secrets.reduce((result, each) => result.replaceAll(each, '*'.repeat(each.length)), text)
}

function maskIn(bytes: Buffer, patterns: readonly Buffer[]): void {
  for (const pattern of patterns) {
    for (let at = bytes.indexOf(pattern); at >= 0; at = bytes.indexOf(pattern, at + pattern.length)) {
      bytes.fill('*', at, at + pattern.length)
    }
  }
}

/** Position at the end of `bytes` where a prefix of `pattern` begins; their length if there is none. */
function prefixStart(bytes: Buffer, pattern: Buffer): number {
  const first = pattern[0] ?? 0
  const last = bytes.length - minHeldBytes
  const from = Math.max(0, bytes.length - pattern.length + 1)
  for (let at = bytes.indexOf(first, from); at >= 0 && at <= last; at = bytes.indexOf(first, at + 1)) {
    if (bytes.subarray(at).equals(pattern.subarray(0, bytes.length - at))) return at
  }
  return bytes.length
}
