import { createCache } from '../../kit/cache.ts'
import type { Clock } from '../../kit/clock.ts'
import type { Db } from '../../ports/database/port.ts'
import type { IdentityChanges, SessionCaller } from '../access/index.ts'
import { type Account, callerUser, type Users } from '../users/index.ts'
import { readJwt } from './jwt.ts'
import type { SigningKeys } from './signing-key.ts'
import { type SessionRow, sessionStore } from './store.ts'

/**
 * Resolves a session token to its caller. The token must be signed by the current boot, not expired, not
 * revoked, and of an account that is not suspended. Results are cached until they change.
 */
export function createVerifySession(deps: {
  db: Db
  clock: Clock
  changes: Pick<IdentityChanges, 'on'>
  users: Pick<Users, 'find'>
  signingKeys: Pick<SigningKeys, 'current' | 'onReplaced'>
}): (token: string, options?: { acceptsLoggedOut?: boolean }) => Promise<SessionCaller | null> {
  const { db, clock, changes, users, signingKeys } = deps
  const cache = createCache<{ caller: SessionCaller; expiresAtMs: number }>({
    clock,
    maxAgeSeconds: 5,
    maxEntries: 10_000,
    load: (token) => read(token, 'active'),
  })

  async function read(token: string, accepts: 'active' | 'active or logged out') {
    const { epoch, key } = signingKeys.current()
    const claims = readJwt(token, key)
    if (claims?.epoch !== epoch || !isBefore(clock, claims.exp * 1000)) return null
    const row = await sessionStore(db).byId(claims.jti)
    if (!row || (row.revoked_at !== null && accepts === 'active')) return null
    const account = await users.find(row.user_id)
    if (!account || account.suspended_at !== null || account.username !== claims.sub) return null
    return { caller: sessionCaller(row, account), expiresAtMs: claims.exp * 1000 }
  }
  signingKeys.onReplaced(() => cache.clear())
  changes.on((change) => {
    if (change === 'all') cache.clear()
    else if ('user_id' in change) cache.forget(({ caller }) => caller.user.id === change.user_id)
    else if ('session_id' in change) cache.forget(({ caller }) => caller.session.jti === change.session_id)
  })
  return async (token, { acceptsLoggedOut = false } = {}) => {
    // Never cached: other requests must not accept a logged-out session.
    if (acceptsLoggedOut) return (await read(token, 'active or logged out'))?.caller ?? null
    const cached = await cache.get(token)
    return cached && isBefore(clock, cached.expiresAtMs) ? cached.caller : null
  }
}

export function sessionCaller({ jti, mode, expires_at }: SessionRow, account: Account): SessionCaller {
  return { kind: 'session', user: callerUser(account), session: { jti, mode, expires_at } }
}

function isBefore(clock: Clock, ms: number): boolean {
  return clock.now().getTime() < ms
}
