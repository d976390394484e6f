import { hash, timingSafeEqual } from 'node:crypto'

/**
 * Compares two secrets in constant time. Compares digests, whose length and content an attacker cannot
 * control. The only place that compares secrets; `checks/laws.ts` refuses others.
 */
export function isSameSecret(presented: string | Uint8Array, expected: string | Uint8Array): boolean {
  return timingSafeEqual(digest(presented), digest(expected))
}

function digest(value: string | Uint8Array): Buffer {
  return hash('sha256', value, 'buffer')
}
