import { createHmac, type KeyObject } from 'node:crypto'
import { isSameSecret } from '../../kit/same-secret.ts'

/** What a session token says. `iat` and `exp` are seconds since 1970, `epoch` the boot that signed it. */
export type Claims = {
  sub: string
  iat: number
  exp: number
  jti: string
  mode: 'admin' | 'email'
  epoch: string
}

/** The only header there is: a token that names another algorithm, or adds to it, is not one of ours. */
const header = Buffer.from('{"alg":"HS256","typ":"JWT"}').toString('base64url')

export function signJwt(claims: Claims, key: KeyObject): string {
  const signed = `${header}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}`
  return `${signed}.${signature(signed, key)}`
}

/**
 * The claims of a token signed with this key, whether expired or not; null for anything else. Nothing of
 * the token is read before its signature was found right.
 */
export function readJwt(token: string, key: KeyObject): Claims | null {
  const parts = token.split('.')
  const [first, payload, given] = parts
  if (parts.length !== 3 || first !== header || !payload || !given) return null
  // Compared as text: a second spelling of the same signature is another token, and refused.
  if (!isSameSecret(given, signature(`${first}.${payload}`, key))) return null
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
