import type { Loop } from '../../background/loops.ts'
import { type RateLimits, rateRules } from '../../foundation/rate-limits/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import { createTurns } from '../../kit/turns.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import type { IdentityChanges, SessionCaller, SignedIn } from '../access/index.ts'
import type { Devices, Origin } from '../devices/index.ts'
import type { SecondFactor } from '../second-factor/index.ts'
import { type Account, type AllowList, type Proof, type Users, userView } from '../users/index.ts'
import { isCommonPassword } from './common-passwords.ts'
import { createPasswords, isAcceptablePassword } from './passwords.ts'
import { createSecondStep, type SecondStep, type SignedInPerson } from './second-step.ts'
import { type AccessToken, type Credentials, createSignIn } from './sign-in.ts'
import type { SigningKeys } from './signing-key.ts'
import { sessionStore } from './store.ts'
import { createVerifySession, sessionCaller } from './verify.ts'

export type SessionsDeps = {
  db: Db
  clock: Clock
  changes: IdentityChanges
  users: Users
  signingKeys: SigningKeys
  limits: RateLimits
  devices: Devices
  allowList: Pick<AllowList, 'admit'>
  secondFactor: SecondFactor
  /** Runs in the transaction that ends sessions of a person. */
  onEnded(tx: Tx, ended: EndedSessions): Promise<void>
}

/** The sessions of one person that end together. */
export type EndedSessions = { user_id: string; which: 'all' | { only: string } | { except: string } }

export type Sessions = {
  setupStatus(): Promise<{ setup_completed: boolean; setup_available: boolean }>
  /** Throws the first that applies: `rate_limited`, `setup_completed`, `weak_password`, `password_mismatch`. */
  setUp(request: FirstPassword, ip: string): Promise<{ userId: string }>
  /**
   * Throws `setup_required`, `invalid_credentials`, `account_suspended`, `too_many_attempts`; and
   * `mfa_required`, with a challenge, after the right password if a second factor is required.
   */
  signIn(credentials: Credentials): Promise<SignedInPerson>
  /** Continues a sign-in after a first proof of any kind. */
  secondStep: SecondStep
  /** Opens a session for a fully authenticated account. */
  issue(account: Account, proof: Proof): Promise<AccessToken>
  verifySession(token: string): Promise<SessionCaller | null>
  /** Returns the current caller of a session, or null if it ended. For work that outlives its request. */
  callerOf(jti: string): Promise<SessionCaller | null>
  /** False if the session was ended. Otherwise its end waits for this transaction. */
  holdOpen(tx: Tx, jti: string): Promise<boolean>
  /** The values of `GET /api/auth/validate`. */
  describe(caller: SignedIn): Promise<{ user: ReturnType<typeof userView>; expires_at: string | null }>
  /** Hook of a suspension: ends all sessions of the account for good. */
  revokeAll(tx: Tx, userId: string): Promise<void>
  /** Ends the caller's session immediately. Does nothing for a key. */
  logout(caller: SignedIn): Promise<void>
  /** Throws `weak_password`, `invalid_credentials`, `too_many_attempts`. */
  changePassword(caller: SignedIn, request: { current: string; next: string }, origin: Origin): Promise<void>
  loops: Loop[]
}

type FirstPassword = { password: string; confirm_password?: string | null; email?: string | null }

/** Hashing uses the small thread pool that files and DNS lookups need too. */
const maxConcurrentHashes = 2

export function createSessions(deps: SessionsDeps): Sessions {
  const { db, clock, changes, users, limits } = deps
  const passwords = createPasswords()
  const inTurn = createTurns(maxConcurrentHashes)
  const { checkPassword, issue } = createSignIn({ ...deps, passwords, inTurn })
  const secondStep = createSecondStep({ ...deps, issue })

  return {
    issue,
    secondStep,

    async signIn(credentials) {
      if (!(await users.hasUsableAdmin())) throw new Fault('setup_required')
      const { account, passwordHash } = await checkPassword(credentials)
      const outcome = await secondStep.enter(account, { mode: 'admin', passwordHash })
      if ('challenge' in outcome) throw new Fault('mfa_required', undefined, outcome.challenge)
      return outcome.session
    },

    verifySession: createVerifySession(deps),

    async callerOf(jti) {
      const row = await sessionStore(db).byId(jti)
      if (!row || row.revoked_at !== null || row.expires_at <= timestamp(clock.now())) return null
      if (row.epoch !== deps.signingKeys.current().epoch) return null
      const account = await users.find(row.user_id)
      if (!account || account.suspended_at !== null) return null
      return sessionCaller(row, account)
    },

    async setupStatus() {
      const completed = await users.hasUsableAdmin()
      return { setup_completed: completed, setup_available: !completed }
    },

    async setUp({ password, confirm_password, email }, ip) {
      await limits.use(rateRules.setup, ip)
      if (await users.hasUsableAdmin()) throw new Fault('setup_completed')
      await refuseWeak(password)
      if (typeof confirm_password === 'string' && confirm_password !== password)
        throw new Fault('password_mismatch')
      const passwordHash = await inTurn(() => passwords.hash(password))
      return { userId: await users.createFirstAdmin({ passwordHash, email: email ?? null }) }
    },

    async describe(caller) {
      const account = await users.find(caller.user.id)
      // The account was removed after its credential was checked.
      if (!account) throw new Fault('invalid_token')
      return {
        user: userView(account),
        expires_at: caller.kind === 'session' ? caller.session.expires_at : null,
      }
    },

    async logout(caller) {
      if (caller.kind === 'key') return
      const { jti } = caller.session
      await db.atomically(async (tx) => {
        await sessionStore(tx).revoke(jti, timestamp(clock.now()))
        await deps.onEnded(tx, { user_id: caller.user.id, which: { only: jti } })
      })
      changes.announce({ session_id: jti })
    },

    holdOpen: (tx, jti) => sessionStore(tx).holdOpen(jti),

    async revokeAll(tx, userId) {
      await sessionStore(tx).revokeAll(userId, timestamp(clock.now()))
      await deps.onEnded(tx, { user_id: userId, which: 'all' })
    },

    async changePassword(caller, { current, next }, origin) {
      if (caller.kind !== 'session') throw new Fault('human_only')
      const { user, session } = caller
      if (user.role !== 'admin') throw new Fault('admin_required')
      if ((await users.passwordHashOf(user.id)) === null)
        throw new Fault('conflict', 'This account signs in by e-mail and has no password.')
      await refuseWeak(next)
      const credentials = { username: user.username, password: current, ...origin }
      const { passwordHash } = await checkPassword(credentials)
      const nextHash = await inTurn(() => passwords.hash(next))
      await db.atomically(async (tx) => {
        if (!(await users.replacePasswordHash(tx, user.id, passwordHash, nextHash)))
          throw new Fault('invalid_credentials')
        // After the password change, so that a concurrent sign-in with the old one is revoked here or fails.
        await sessionStore(tx).revokeOthers(user.id, session.jti, timestamp(clock.now()))
        await deps.onEnded(tx, { user_id: user.id, which: { except: session.jti } })
        tx.onCommitted(() => changes.announce({ user_id: user.id }))
      })
    },

    loops: [
      {
        name: 'session-sweep',
        everySeconds: 3600,
        run: () => sessionStore(db).deleteExpired(timestamp(clock.now())),
      },
    ],
  }
}

async function refuseWeak(password: string): Promise<void> {
  if (!isAcceptablePassword(password)) throw new Fault('weak_password')
  if (await isCommonPassword(password))
    throw new Fault(
      'weak_password',
      'The password is on the list of common passwords, which attackers try first. Choose another one.',
    )
}
