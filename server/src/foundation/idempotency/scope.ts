import { createHash } from 'node:crypto'

/** A key of one route family and one subject; made by `scopeOf`. */
export type Scope = {
  /** SHA-256 of family, subject and key: neither key nor token can be read from it. */
  readonly hash: string
  /** SHA-256 of the request's body; null where none was given. */
  readonly bodyDigest: string | null
}

/**
 * The scope of a key: a route family (`chat`, `task`, …), whom it is for (an agent's id, a webhook token, a
 * person), and the header's value. Null without a key. `body` is the checked request: it is no part of the
 * scope, a reused key with another body is only told in the log.
 */
export function scopeOf(
  family: string,
  subject: string,
  key: string | undefined,
  body?: unknown,
): Scope | null {
  if (!key) return null
  return {
    hash: sha256(JSON.stringify([family, subject, key])),
    bodyDigest: body === undefined ? null : sha256(JSON.stringify(body)),
  }
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
