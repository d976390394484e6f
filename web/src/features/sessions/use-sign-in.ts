import {
  confirmFactorLoginEnrolment,
  type SecondFactorChallenge,
  startFactorLoginEnrolment,
  verifyFactorLogin,
} from '@roost/contracts/identity/second-factor'
import { useState } from 'react'
import { describeFault } from '../../lib/fault.ts'
import { useApi } from '../../shell/app-context.ts'
import { toast } from '../../ui/toast.tsx'
import { isRefusal } from './challenge.ts'
import type { EnrolmentOffer } from './enrolment.tsx'

/** The current step of the sign-in; `token` is that of the challenge. */
export type SignInStep =
  /** `notice`: why the sign-in has started over. */
  | { at: 'first'; notice: string | null }
  | { at: 'factor'; token: string }
  | { at: 'enrol'; token: string; offer: EnrolmentOffer }
  /** Enrolled: the session begins when the recovery codes are stored. */
  | { at: 'codes'; recoveryCodes: string[]; accessToken: string }
  | { at: 'entering' }

const fewCodes = 2

/** The steps after the first proof. `enter` begins the session. */
export function useSignIn(enter: (accessToken: string) => Promise<void>) {
  const api = useApi()
  const [step, setStep] = useState<SignInStep>({ at: 'first', notice: null })

  /** An expired challenge starts over with a notice. The form shows all other errors. */
  async function orStartOver(work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      if (!isRefusal(error, 'challenge_expired')) throw error
      setStep({ at: 'first', notice: describeFault(error).sentence })
    }
  }

  return {
    step,
    startOver: () => setStep({ at: 'first', notice: null }),

    meet: ({ challenge_token: token, enrollment_required }: SecondFactorChallenge) =>
      orStartOver(async () => {
        if (!enrollment_required) return setStep({ at: 'factor', token })
        const offer = await api.call(startFactorLoginEnrolment, { body: { challenge_token: token } })
        setStep({ at: 'enrol', token: offer.challenge_token, offer })
      }),

    verify: (token: string, code: string) =>
      orStartOver(async () => {
        const reply = await api.call(verifyFactorLogin, { body: { challenge_token: token, code } })
        await enter(reply.access_token)
        const left = reply.recovery_codes_left
        if (left > fewCodes) return
        const title = left === 1 ? 'One recovery code is left.' : `${left || 'No'} recovery codes are left.`
        toast({ title, description: 'Create new codes on your account page.', tone: 'warning' })
      }),

    confirm: (token: string, code: string) =>
      orStartOver(async () => {
        const reply = await api.call(confirmFactorLoginEnrolment, { body: { challenge_token: token, code } })
        setStep({ at: 'codes', recoveryCodes: reply.recovery_codes, accessToken: reply.access_token })
      }),

    enterStored: (accessToken: string) => {
      setStep({ at: 'entering' })
      return enter(accessToken)
    },
  }
}
