import type { CallReply } from '@roost/contracts/client'
import type { getAuthMode } from '@roost/contracts/identity/sessions'
import type { ComponentType, ReactNode } from 'react'
import { Button } from '../../ui/button.tsx'
import { Enrolment } from './enrolment.tsx'
import { FactorCodeForm } from './factor-code-form.tsx'
import { FirstStep } from './first-step.tsx'
import { RecoveryCodesDialog } from './recovery-codes-dialog.tsx'
import { methodOf, type SignInMethod } from './sign-in-methods.ts'
import { useSignIn } from './use-sign-in.ts'

type SignInProps = {
  mode: CallReply<typeof getAuthMode>
  way: SignInMethod | undefined
  /** Called instead of navigating, where the other methods have no page of their own. */
  onWay?: (way: SignInMethod) => void
  /** Begins the session. */
  enter(accessToken: string): Promise<void>
  /** Wraps each step. Title and description are undefined for the first step. */
  Frame: ComponentType<{ title?: string; description?: string; children: ReactNode }>
}

/** The sign-in, step by step. */
export function SignIn({ mode, way, onWay, enter, Frame }: SignInProps) {
  const { step, meet, verify, confirm, enterStored, startOver } = useSignIn(enter)
  const back = (
    <Button variant="ghost" onClick={startOver}>
      Start over
    </Button>
  )
  if (step.at === 'factor')
    return (
      <Frame title="Confirm your identity" description="This account requires a second factor.">
        <FactorCodeForm action="Sign in" onCode={(code) => verify(step.token, code)}>
          {back}
        </FactorCodeForm>
      </Frame>
    )
  if (step.at === 'enrol')
    return (
      <Frame title="Set up a second factor" description="Your role requires a second factor to sign in.">
        <Enrolment
          offer={step.offer}
          action="Turn on and sign in"
          onCode={(code) => confirm(step.token, code)}
        >
          {back}
        </Enrolment>
      </Frame>
    )
  if (step.at === 'codes' || step.at === 'entering')
    return (
      <Frame title="Second factor turned on">
        <p className="text-muted text-sm">Store the recovery codes to complete the sign-in.</p>
        {step.at === 'codes' ? (
          <RecoveryCodesDialog
            codes={step.recoveryCodes}
            onClose={() => void enterStored(step.accessToken)}
          />
        ) : null}
      </Frame>
    )
  return (
    <Frame {...(methodOf(mode, way) === 'request' ? { title: 'Request access' } : {})}>
      <FirstStep
        mode={mode}
        way={way}
        notice={step.notice}
        onWay={onWay}
        onToken={enter}
        onChallenge={meet}
      />
    </Frame>
  )
}
