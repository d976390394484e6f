import { Fault } from '../../kit/fault.ts'
import { anonymous, type Caller, type KeyCaller, type SessionCaller } from './caller.ts'

export type IdentifyDeps = {
  /** Null: not a session token of ours, or not valid any more. */
  verifySession(token: string, options?: { admitsLeft?: boolean }): Promise<SessionCaller | null>
  /** Null: not a key of ours, or stopped. */
  verifyKey(presented: string): Promise<KeyCaller | null>
}

/** `admitsLeft`: a session that was logged out counts too, as long as it would have lasted. */
export type Identify = (
  authorization: string | undefined,
  options?: { admitsLeft?: boolean },
) => Promise<Caller>

export const keyTextPrefix = 'svc_mcp_'

/** Longer than any credential of ours; above it nothing is computed. */
const longestCredential = 2048

/**
 * Who sent this `Authorization` header. Without one: anonymous. Throws `not_authenticated` for a header
 * that is not a bearer token and `invalid_token` for one that is refused.
 */
export function createIdentify({ verifySession, verifyKey }: IdentifyDeps): Identify {
  return async (authorization, options) => {
    if (authorization === undefined) return anonymous
    if (authorization.slice(0, 7).toLowerCase() !== 'bearer ') throw new Fault('not_authenticated')
    const token = authorization.slice(7).trim()
    if (token === '') throw new Fault('not_authenticated')
    if (token.length > longestCredential) throw new Fault('invalid_token')
    const caller = await (token.startsWith(keyTextPrefix) ? verifyKey(token) : verifySession(token, options))
    if (!caller) throw new Fault('invalid_token')
    return caller
  }
}
