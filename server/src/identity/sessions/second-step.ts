import type { SecondFactorChallenge } from '@roost/contracts/identity/second-factor'
import type { User } from '@roost/contracts/identity/users'
import { Fault } from '../../kit/fault.ts'
import type { Db } from '../../ports/database/port.ts'
import type { Answerer, SecondFactor } from '../second-factor/index.ts'
import { type Account, type AllowList, type Proof, type Users, userView } from '../users/index.ts'
import type { AccessToken } from './sign-in.ts'

export type SignedInPerson = AccessToken & { user: User }

/** The result of the first step of a sign-in. */
export type SignInOutcome = { session: SignedInPerson } | { challenge: SecondFactorChallenge }

export type SecondStepDeps = {
  db: Db
  users: Pick<Users, 'find' | 'holderOf'>
  allowList: Pick<AllowList, 'admit'>
  secondFactor: Pick<SecondFactor, 'challenge' | 'answer' | 'startEnrolment' | 'confirmEnrolment'>
  issue(account: Account, proof: Proof): Promise<AccessToken>
}

/** Turns a first proof into a session, through the second factor where one is required. */
export function createSecondStep(deps: SecondStepDeps) {
  const { db, users, allowList, secondFactor, issue } = deps

  const issueFor = async (account: Account, proof: Proof): Promise<SignedInPerson> => {
    const token = await issue(account, proof)
    return { ...token, user: userView((await users.find(account.id)) ?? account) }
  }

  /** Checks the allow list again: the address may have been removed since the mailed code. */
  const recheck = async (account: Account, proof: Proof) => {
    if (proof.mode !== 'email') return
    for (const email of [account.username, account.email]) {
      if (email !== null && (await allowList.admit(db, email, account))) return
    }
    throw new Fault('challenge_expired')
  }

  return {
    /** Throws `account_suspended`, which only a caller with the first proof can see. */
    async enter(account: Account, proof: Proof): Promise<SignInOutcome> {
      if (account.suspended_at !== null) throw new Fault('account_suspended')
      const challenge = await secondFactor.challenge(account, proof)
      return challenge ? { challenge } : { session: await issueFor(account, proof) }
    },

    async finish(
      token: string,
      code: string,
      from: Answerer,
    ): Promise<SignedInPerson & { recovery_codes_left: number }> {
      const { account, proof, recoveryCodesLeft } = await secondFactor.answer(token, code, from)
      await recheck(account, proof)
      return { ...(await issueFor(account, proof)), recovery_codes_left: recoveryCodesLeft }
    },

    async startEnrolment(token: string, onAccount?: Answerer['onAccount']) {
      return { ...(await secondFactor.startEnrolment(token, onAccount)), challenge_token: token }
    },

    async finishEnrolment(
      token: string,
      code: string,
      from: Answerer,
    ): Promise<SignedInPerson & { recovery_codes: string[] }> {
      const { account, proof, recoveryCodes } = await secondFactor.confirmEnrolment(token, code, from)
      await recheck(account, proof)
      return { ...(await issueFor(account, proof)), recovery_codes: recoveryCodes }
    },
  }
}

export type SecondStep = ReturnType<typeof createSecondStep>
