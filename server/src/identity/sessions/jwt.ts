import { createHmac, type KeyObject } from 'node:crypto'
import { isSameSecret } from '../../kit/same-secret.ts'

/** The claims of a session token. `iat` and `exp` are seconds since 1970, `epoch` is the boot that signed it. */
export type Claims = {
  sub: string
  iat: number
  exp: number
  jti: string
  mode: 'admin' | 'email'
  epoch: string
}

/** The only accepted header. Rejects tokens with another algorithm or additional fields. */
const header = Buffer.from('{"alg":"HS256","typ":"JWT"}').toString('base64url')

export function signJwt(claims: Claims, key: KeyObject): string {
  const signed = `${header}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}`
  return `${signed}.${signature(signed, key)}`
}

/**
 * Returns the claims of a token signed with this key, expired or not; null for anything else. Verifies the
 * signature before it parses the payload.
 */
export function readJwt(token: string, key: KeyObject): Claims | null {
  const parts = token.split('.')
  const [first, payload, presented] = parts
  if (parts.length !== 3 || first !== header || !payload || !presented) return null
  // Compared as text, so that another encoding of the same signature is refused.
  if (!isSameSecret(presented, signature(`${first}.${payload}`, key))) return null
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'))
    return isClaims(claims) ? claims : null
  } catch {
    return null
  }
}

function signature(text: string, key: KeyObject): string {
  return createHmac('sha256', key).update(text).digest('base64url')
}

function isClaims(value: unknown): value is Claims {
  if (typeof value !== 'object' || value === null) return false
  const claims = value as Record<keyof Claims, unknown>
  return (
    typeof claims.sub === 'string' &&
    typeof claims.iat === 'number' &&
    typeof claims.exp === 'number' &&
    typeof claims.jti === 'string' &&
    (claims.mode === 'admin' || claims.mode === 'email') &&
    typeof claims.epoch === 'string'
  )
}
