import { hash } from 'node:crypto'
import {
  clearFromPlace,
  type RateLimits,
  rateRules,
  useFromPlace,
} from '../../foundation/rate-limits/index.ts'
import { type Clock, secondsLater, timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import { newId } from '../../kit/ids.ts'
import type { Turns } from '../../kit/turns.ts'
import type { Db } from '../../ports/database/port.ts'
import { accountSubject, type Devices, type Origin } from '../devices/index.ts'
import type { Account, Proof, Users } from '../users/index.ts'
import { signJwt } from './jwt.ts'
import type { Passwords } from './passwords.ts'
import type { SigningKeys } from './signing-key.ts'
import { type SessionRow, sessionStore } from './store.ts'

export type SignInDeps = {
  db: Db
  clock: Clock
  users: Pick<Users, 'findLogin' | 'recordLogin'>
  signingKeys: Pick<SigningKeys, 'current'>
  passwords: Passwords
  limits: RateLimits
  devices: Devices
  /** Limits concurrent password hashing. */
  inTurn: Turns
}

export type Credentials = Origin & {
  username: string
  password: string
  /** Called with the user name once the account is known, even if the password is wrong. */
  onAccount?(username: string): void
}
export type AccessToken = { access_token: string; token_type: 'bearer' }

/** Sessions last seven days, or until the platform restarts. */
const lifetimeSeconds = 7 * 24 * 3600

export function createSignIn(deps: SignInDeps) {
  const { db, clock, users, signingKeys, passwords, limits, devices, inTurn } = deps

  /**
   * Checks name and password. Unknown names, accounts without a password and wrong passwords take the same time
   * and give the same error. Throws `invalid_credentials`, `too_many_attempts`.
   */
  const checkPassword = async ({ username, password, onAccount, ...origin }: Credentials) => {
    const found = await users.findLogin(username)
    if (found) onAccount?.(found.account.username)
    const subject = accountSubject(
      found ? found.account.id : hash('sha256', username.trim().toLowerCase(), 'base64url'),
    )
    const place = devices.place(subject, origin)
    const proven = await inTurn(async () => {
      // A known device has its own count. Others at its address do not use it up.
      if (place.device === null) await limits.check(rateRules.passwordAddress, origin.ip)
      // Counted before the password is checked, so that concurrent guesses cannot exceed the limit.
      await useFromPlace(limits, rateRules.password, subject, place)
      if (place.device === null) await limits.use(rateRules.passwordAddress, origin.ip)
      const matches = await passwords.matches(password, found?.passwordHash ?? null)
      if (matches) {
        await clearFromPlace(limits, rateRules.password, subject, place)
        await limits.clear(rateRules.passwordAddress, origin.ip)
      }
      return matches
    })
    if (!found || found.passwordHash === null || !proven) throw new Fault('invalid_credentials')
    return { account: found.account, passwordHash: found.passwordHash }
  }

  /** The last step of every sign-in: opens a session for the authenticated account. */
  const issue = async (account: Account, proof: Proof): Promise<AccessToken> => {
    const now = clock.now()
    const iat = Math.floor(now.getTime() / 1000)
    const exp = iat + lifetimeSeconds
    const { epoch, key } = signingKeys.current()
    const row: SessionRow = {
      jti: newId(),
      epoch,
      user_id: account.id,
      mode: proof.mode,
      created_at: timestamp(now),
      expires_at: timestamp(secondsLater(new Date(0), exp)),
      revoked_at: null,
    }
    const proven = proof.mode === 'admin' ? proof.passwordHash : null
    await db.atomically(async (tx) => {
      if (!(await users.recordLogin(tx, account.id, proven))) throw new Fault('invalid_credentials')
      await sessionStore(tx).insert(row)
    })
    const claims = { sub: account.username, iat, exp, jti: row.jti, mode: proof.mode, epoch }
    return { access_token: signJwt(claims, key), token_type: 'bearer' }
  }

  return { checkPassword, issue }
}
