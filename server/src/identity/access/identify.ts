import { Fault } from '../../kit/fault.ts'
import { anonymous, type Caller, type KeyCaller, type SessionCaller } from './caller.ts'

export type IdentifyDeps = {
  /** Returns null if the token is not one of ours or is no longer valid. */
  verifySession(token: string, options?: { acceptsLoggedOut?: boolean }): Promise<SessionCaller | null>
  /** Returns null if the key is not one of ours or no longer works. */
  verifyKey(presented: string): Promise<KeyCaller | null>
  /** True for the key of a run that has ended, or that is running. */
  isRunKey(presented: string): boolean
}

/** `acceptsLoggedOut`: accepts a logged-out session too, until it would have expired. */
export type Identify = (
  authorization: string | undefined,
  options?: { acceptsLoggedOut?: boolean },
) => Promise<Caller>

export const keyTextPrefix = 'svc_mcp_'

/** Longer than any of our credentials. Longer input is rejected without a lookup. */
const maxCredentialLength = 2048

/**
 * Resolves an `Authorization` header to its caller, anonymous without one. Throws `not_authenticated` for
 * a header that is not a bearer token, `run_key_ended` for the key of an ended run, and `invalid_token` for any
 * other token that is refused.
 */
export function createIdentify({ verifySession, verifyKey, isRunKey }: IdentifyDeps): Identify {
  return async (authorization, options) => {
    if (authorization === undefined) return anonymous
    if (authorization.slice(0, 7).toLowerCase() !== 'bearer ') throw new Fault('not_authenticated')
    const token = authorization.slice(7).trim()
    if (token === '') throw new Fault('not_authenticated')
    if (token.length > maxCredentialLength) throw new Fault('invalid_token')
    const caller = await (token.startsWith(keyTextPrefix) ? verifyKey(token) : verifySession(token, options))
    if (!caller) throw new Fault(isRunKey(token) ? 'run_key_ended' : 'invalid_token')
    return caller
  }
}
