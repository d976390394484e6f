import { Transform } from 'node:stream'
import { type Matcher, matcherOf } from '../../kit/matcher.ts'

/** Shorter prefixes are not held back: a response that ends this way would stall. */
const minHeldBytes = 4

/**
 * Masks secrets in a stream byte for byte, so the length stays. Holds back only a possible prefix of a
 * secret. The first three bytes of a secret that arrives in pieces may already have been sent.
 */
export function createMask(secrets: readonly string[]): Transform {
  const matcher = matcherFor(secrets)
  /** The last bytes sent, and the bytes held back. */
  let sentTail = Buffer.alloc(0)
  let pending = Buffer.alloc(0)
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const bytes = Buffer.concat([sentTail, pending, chunk])
      maskIn(bytes, matcher)
      const from = sentTail.length
      const held = matcher.openEnd(bytes.toString('latin1'))
      const end = Math.max(from, bytes.length - (held >= minHeldBytes ? held : 0))
      sentTail = bytes.subarray(Math.max(0, end - minHeldBytes + 1), end)
      pending = bytes.subarray(end)
      done(null, bytes.subarray(from, end))
    },
    flush(done) {
      done(null, pending)
    },
  })
}

/** Masks a complete text of bytes. */
export function maskText(text: string, secrets: readonly string[]): string {
  const bytes = Buffer.from(text, 'latin1')
  maskIn(bytes, matcherFor(secrets))
  return bytes.toString('latin1')
}

const matcherFor = (secrets: readonly string[]) =>
  matcherOf('bytes', secrets, (list) => list.filter(({ length }) => length > 0))

function maskIn(bytes: Buffer, matcher: Matcher): void {
  const lengths = matcher.lengths(bytes.toString('latin1'))
  let end = 0
  for (let at = 0; at < bytes.length; at += 1) {
    end = Math.max(end, at + (lengths[at] ?? 0))
    if (at < end) bytes[at] = star
  }
}

const star = '*'.charCodeAt(0)
