import { hash, timingSafeEqual } from 'node:crypto'

/**
 * Whether two secrets are the same text or bytes, in a time that tells nothing of how much of them agrees: what
 * is compared are their digests, whose length and content nobody who guesses can steer. The one place in which
 * secrets are compared; `checks/laws.ts` refuses others.
 */
export function isSameSecret(presented: string | Uint8Array, expected: string | Uint8Array): boolean {
  return timingSafeEqual(digest(presented), digest(expected))
}

function digest(value: string | Uint8Array): Buffer {
  return hash('sha256', value, 'buffer')
}
