import { Transform } from 'node:stream'

/** A beginning shorter than this is not waited for: an answer that ends so would otherwise hang. */
const shortestHeld = 4

/**
 * Blots secrets out of a stream, byte for byte, so that its length stays. Holds back only what may well be the
 * beginning of one; of a secret that comes in pieces the first three bytes may have gone before it is known for one.
 */
export function createMask(secrets: readonly string[]): Transform {
  const patterns = secrets.map((text) => Buffer.from(text, 'latin1')).filter(({ length }) => length > 0)
  /** The last bytes that went on, and those that did not yet. */
  let gone = Buffer.alloc(0)
  let held = Buffer.alloc(0)
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const bytes = Buffer.concat([gone, held, chunk])
      blot(bytes, patterns)
      const from = gone.length
      const begun = patterns.map((pattern) => beginningAt(bytes, pattern))
      const end = Math.max(from, Math.min(...begun, bytes.length))
      gone = bytes.subarray(Math.max(0, end - shortestHeld + 1), end)
      held = bytes.subarray(end)
      done(null, bytes.subarray(from, end))
    },
    flush(done) {
      done(null, held)
    },
  })
}

/** The same for a text that is there as a whole. */
export function maskText(text: string, secrets: readonly string[]): string {
  return secrets.reduce((result, each) => result.replaceAll(each, '*'.repeat(each.length)), text)
}

function blot(bytes: Buffer, patterns: readonly Buffer[]): void {
  for (const pattern of patterns) {
    for (let at = bytes.indexOf(pattern); at >= 0; at = bytes.indexOf(pattern, at + pattern.length)) {
      bytes.fill('*', at, at + pattern.length)
    }
  }
}

/** Where at the end of `bytes` a beginning of `pattern` stands; their length when none does. */
function beginningAt(bytes: Buffer, pattern: Buffer): number {
  const first = pattern[0] ?? 0
  const last = bytes.length - shortestHeld
  const from = Math.max(0, bytes.length - pattern.length + 1)
  for (let at = bytes.indexOf(first, from); at >= 0 && at <= last; at = bytes.indexOf(first, at + 1)) {
    if (bytes.subarray(at).equals(pattern.subarray(0, bytes.length - at))) return at
  }
  return bytes.length
}
