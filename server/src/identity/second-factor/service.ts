import type { SecondFactorChallenge } from '@roost/contracts/identity/second-factor'
import type { Role } from '@roost/contracts/kit/access'
import type { Loop } from '../../background/loops.ts'
import {
  clearFromPlace,
  type RateLimits,
  rateRules,
  useFromPlace,
} from '../../foundation/rate-limits/index.ts'
import type { Vault } from '../../foundation/vault/index.ts'
import type { Clock } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import { accountSubject, type Devices, type Origin } from '../devices/index.ts'
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
  devices: Pick<Devices, 'place'>
  users: Pick<Users, 'find' | 'findLogin' | 'passwordHashOf' | 'setEnrolled'>
  /** The roles that must have a second factor. */
  policy: { roles(): readonly Role[]; set(roles: readonly Role[]): Promise<void> }
}

/** The account and the proof of its first step, after a passed second step. */
export type Passed = { account: Account; proof: Proof }

/** Who presents a code. `onAccount` gets the user name of an open challenge, even if the code is wrong. */
export type Answerer = { origin: Origin; onAccount?: (username: string) => void }

export type SecondFactor = {
  /** Returns null if the account needs no second factor. */
  challenge(account: Account, proof: Proof): Promise<SecondFactorChallenge | null>
  /**
   * The second step of a sign-in. Throws `challenge_expired`, `account_suspended`, `too_many_attempts`,
   * `invalid_code`; the enrolment also `conflict` if the account has a factor.
   */
  answer(token: string, code: string, from: Answerer): Promise<Passed & { recoveryCodesLeft: number }>
  startEnrolment(token: string, onAccount?: Answerer['onAccount']): Promise<Enrolment>
  confirmEnrolment(token: string, code: string, from: Answerer): Promise<Passed & { recoveryCodes: string[] }>

  /** Operations on the caller's own factor. `userId` is that of the session. */
  status(userId: string): Promise<FactorStatus>
  start(userId: string): Promise<Enrolment>
  confirm(userId: string, code: string, origin: Origin): Promise<string[]>
  renewRecoveryCodes(userId: string, code: string, origin: Origin): Promise<string[]>
  /** Throws `role_required` while the policy requires a factor. */
  disable(userId: string, code: string, origin: Origin): Promise<void>

  policy: SecondFactorDeps['policy']
  /** Hook of a suspension: ends the account's half-finished sign-ins. */
  endChallenges(tx: Tx, userId: string): Promise<void>
  /** Throws `not_found` for an unknown user. Does nothing without a factor. */
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
  const { db, limits, devices, users, policy } = deps
  const challenges = createChallenges(deps)
  const factors = createFactors(deps)

  /** Counts wrong codes per account too, because each sign-in makes a challenge with new tries. */
  const guarded = async <T>(userId: string, origin: Origin, work: (tx: Tx) => Promise<T>): Promise<T> => {
    const subject = accountSubject(userId)
    const place = devices.place(subject, origin)
    await useFromPlace(limits, rateRules.secondFactor, subject, place)
    const result = await db.atomically(work)
    await clearFromPlace(limits, rateRules.secondFactor, subject, place)
    return result
  }

  const present = async (tx: Tx, userId: string, code: string) => {
    if (!(await factors.accept(tx, userId, code))) throw new Fault('invalid_code')
  }

  const ownAccount = async (userId: string): Promise<Account> => {
    const account = await users.find(userId)
    // The account was removed after its credential was checked.
    if (!account) throw new Fault('invalid_token')
    return account
  }

  const enrolledAccount = async (userId: string): Promise<Account> => {
    const account = await ownAccount(userId)
    if (account.mfa_enrolled_at === null) throw new Fault('conflict', 'This account has no second factor.')
    return account
  }

  const isRequired = ({ role }: Account) => policy.roles().includes(role)

  /** Runs `work` for a code presented to a challenge, then ends the challenge. */
  const withChallenge = async <T>(
    token: string,
    { origin, onAccount }: Answerer,
    work: (tx: Tx, challenged: Challenged) => Promise<T>,
  ) => {
    const challenged = await challenges.open(token)
    onAccount?.(challenged.account.username)
    await challenges.countTry(challenged)
    const result = await guarded(challenged.account.id, origin, async (tx) => {
      const result = await work(tx, challenged)
      await challenges.end(tx, challenged)
      return result
    })
    return { account: challenged.account, proof: challenged.proof, result }
  }

  return {
    async challenge(account, proof) {
      const demand = demandOf(account, policy.roles())
      if (!demand) return null
      return { mfa_required: true, ...demand, challenge_token: await challenges.mint(account, proof) }
    },

    async answer(token, code, from) {
      const { account, proof } = await withChallenge(token, from, (tx, { account }) =>
        present(tx, account.id, code),
      )
      return { account, proof, recoveryCodesLeft: await factors.recoveryCodesLeft(account.id) }
    },

    async startEnrolment(token, onAccount) {
      const { account } = await challenges.open(token)
      onAccount?.(account.username)
      return factors.start(account)
    },

    async confirmEnrolment(token, code, from) {
      const { account, proof, result } = await withChallenge(token, from, (tx, { account }) =>
        factors.confirm(tx, account, code),
      )
      return { account, proof, recoveryCodes: result }
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

    async confirm(userId, code, origin) {
      const account = await ownAccount(userId)
      return guarded(userId, origin, (tx) => factors.confirm(tx, account, code))
    },

    async renewRecoveryCodes(userId, code, origin) {
      await enrolledAccount(userId)
      return guarded(userId, origin, async (tx) => {
        await present(tx, userId, code)
        return factors.renewRecoveryCodes(tx, userId)
      })
    },

    async disable(userId, code, origin) {
      if (isRequired(await enrolledAccount(userId)))
        throw new Fault('role_required', 'Your role requires a second factor.')
      await guarded(userId, origin, async (tx) => {
        await present(tx, userId, code)
        await factors.remove(tx, userId)
      })
    },

    policy,

    endChallenges: (tx, userId) => challenges.endAll(tx, userId),

    async reset(username) {
      const found = await users.findLogin(username)
      if (!found) throw new Fault('not_found', 'There is no such user.')
      await db.atomically((tx) => factors.remove(tx, found.account.id))
    },

    loops: [{ name: 'challenge-sweep', everySeconds: 3600, run: () => challenges.deleteExpired() }],
  }
}
