import type { SecondFactorChallenge } from '@roost/contracts/identity/second-factor'
import type { Role } from '@roost/contracts/kit/access'
import type { Loop } from '../../background/loops.ts'
import { type RateLimits, rateRules } from '../../foundation/rate-limits/index.ts'
import type { Vault } from '../../foundation/vault/index.ts'
import type { Clock } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import type { Account, Proof, Users } from '../users/index.ts'
import { type Challenged, createChallenges } from './challenges.ts'
import { createFactors } from './factors.ts'
import { demandOf } from './rules.ts'
import type { Enrolment } from './totp.ts'

export type SecondFactorDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  vault: Vault
  limits: RateLimits
  users: Pick<Users, 'find' | 'findLogin' | 'passwordHashOf' | 'setEnrolled'>
  /** The roles that must have a second factor. */
  policy: { roles(): readonly Role[]; set(roles: readonly Role[]): Promise<void> }
}

/** A second step that was passed: who it is, and by which first proof. */
export type Passed = { account: Account; proof: Proof }

/** Called with the user name of a challenge that is open, whether or not the code is right. */
export type OnAccount = (username: string) => void

export type SecondFactor = {
  /** Null when the account signs in without. */
  challenge(account: Account, proof: Proof): Promise<SecondFactorChallenge | null>
  /**
   * The second step of a sign-in. These throw `challenge_expired`, `account_suspended`, `too_many_attempts`,
   * `invalid_code`; the enrolment `conflict` when the account has a factor.
   */
  answer(token: string, code: string, onAccount?: OnAccount): Promise<Passed & { recoveryCodesLeft: number }>
  startEnrolment(token: string, onAccount?: OnAccount): Promise<Enrolment>
  confirmEnrolment(
    token: string,
    code: string,
    onAccount?: OnAccount,
  ): Promise<Passed & { recoveryCodes: string[] }>

  /** What a person does with the own factor. `userId`: of the session that asks. */
  status(userId: string): Promise<FactorStatus>
  start(userId: string): Promise<Enrolment>
  confirm(userId: string, code: string): Promise<string[]>
  renewRecoveryCodes(userId: string, code: string): Promise<string[]>
  /** Throws `role_required` while the policy asks for one. */
  disable(userId: string, code: string): Promise<void>

  policy: SecondFactorDeps['policy']
  /** Throws `not_found`. Somebody without a factor stays without. */
  reset(username: string): Promise<void>
  loops: Loop[]
}

export type FactorStatus = {
  enrolled: boolean
  required: boolean
  recovery_codes_left: number
  enrolled_at: string | null
}

export function createSecondFactor(deps: SecondFactorDeps): SecondFactor {
  const { db, limits, users, policy } = deps
  const challenges = createChallenges(deps)
  const factors = createFactors(deps)

  /** Signing in again makes a new challenge with new tries: so wrong codes are counted for the account too. */
  const guarded = async <T>(userId: string, work: (tx: Tx) => Promise<T>): Promise<T> => {
    await limits.use(rateRules.secondFactor, userId)
    const done = await db.atomically(work)
    await limits.clear(rateRules.secondFactor, userId)
    return done
  }

  const present = async (tx: Tx, userId: string, code: string) => {
    if (!(await factors.accept(tx, userId, code))) throw new Fault('invalid_code')
  }

  const ownAccount = async (userId: string): Promise<Account> => {
    const account = await users.find(userId)
    // Removed between the check of the credential and now.
    if (!account) throw new Fault('invalid_token')
    return account
  }

  const enrolled = async (userId: string): Promise<Account> => {
    const account = await ownAccount(userId)
    if (account.mfa_enrolled_at === null) throw new Fault('conflict', 'This account has no second factor.')
    return account
  }

  const isRequired = ({ role }: Account) => policy.roles().includes(role)

  /** A code that is presented to a challenge. */
  const answered = async <T>(
    { token, onAccount }: { token: string; onAccount: OnAccount | undefined },
    work: (tx: Tx, challenged: Challenged) => Promise<T>,
  ) => {
    const challenged = await challenges.open(token)
    onAccount?.(challenged.account.username)
    await challenges.countTry(challenged)
    const done = await guarded(challenged.account.id, async (tx) => {
      const result = await work(tx, challenged)
      await challenges.end(tx, challenged)
      return result
    })
    return { account: challenged.account, proof: challenged.proof, done }
  }

  return {
    async challenge(account, proof) {
      const demand = demandOf(account, policy.roles())
      if (!demand) return null
      return { mfa_required: true, ...demand, challenge_token: await challenges.mint(account, proof) }
    },

    async answer(token, code, onAccount) {
      const { account, proof } = await answered({ token, onAccount }, (tx, { account }) =>
        present(tx, account.id, code),
      )
      return { account, proof, recoveryCodesLeft: await factors.recoveryCodesLeft(account.id) }
    },

    async startEnrolment(token, onAccount) {
      const { account } = await challenges.open(token)
      onAccount?.(account.username)
      return factors.start(account)
    },

    async confirmEnrolment(token, code, onAccount) {
      const { account, proof, done } = await answered({ token, onAccount }, (tx, { account }) =>
        factors.confirm(tx, account, code),
      )
      return { account, proof, recoveryCodes: done }
    },

    async status(userId) {
      const account = await ownAccount(userId)
      return {
        enrolled: account.mfa_enrolled_at !== null,
        required: isRequired(account),
        recovery_codes_left: await factors.recoveryCodesLeft(userId),
        enrolled_at: account.mfa_enrolled_at,
      }
    },

    start: async (userId) => factors.start(await ownAccount(userId)),

    async confirm(userId, code) {
      const account = await ownAccount(userId)
      return guarded(userId, (tx) => factors.confirm(tx, account, code))
    },

    async renewRecoveryCodes(userId, code) {
      await enrolled(userId)
      return guarded(userId, async (tx) => {
        await present(tx, userId, code)
        return factors.renewRecoveryCodes(tx, userId)
      })
    },

    async disable(userId, code) {
      if (isRequired(await enrolled(userId)))
        throw new Fault('role_required', 'Your role requires a second factor.')
      await guarded(userId, async (tx) => {
        await present(tx, userId, code)
        await factors.remove(tx, userId)
      })
    },

    policy,

    async reset(username) {
      const found = await users.findLogin(username)
      if (!found) throw new Fault('not_found', 'There is no such user.')
      await db.atomically((tx) => factors.remove(tx, found.account.id))
    },

    loops: [{ name: 'challenge-sweep', everySeconds: 3600, run: () => challenges.deleteExpired() }],
  }
}
