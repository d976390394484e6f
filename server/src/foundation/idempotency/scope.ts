import { createHash } from 'node:crypto'

/** Identity of a key: route family, subject and key. */
export type Scope = {
  /** SHA-256 of family, subject and key, so neither keys nor tokens are stored. */
  readonly hash: string
  /** SHA-256 of the request's body; null when the caller passes none. */
  readonly bodyDigest: string | null
}

/**
 * Returns the scope of a key, or null without a key. `family` is a group of routes (`chat`, `task`, …); `subject` is an
 * agent's id, a webhook token or a person. `body` is the parsed request: a reused key with another body is only logged.
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
