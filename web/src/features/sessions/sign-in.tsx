import type { CallReply } from '@roost/contracts/client'
import type { getAuthMode } from '@roost/contracts/identity/sessions'
import type { ComponentType, ReactNode } from 'react'
import { Button } from '../../ui/button.tsx'
import { Enrolment } from './enrolment.tsx'
import { FactorCodeForm } from './factor-code-form.tsx'
import { FirstStep } from './first-step.tsx'
import { RecoveryCodesDialog } from './recovery-codes-dialog.tsx'
import { useSignIn } from './use-sign-in.ts'
import { type Way, wayOf } from './ways.ts'

type SignInProps = {
  mode: CallReply<typeof getAuthMode>
  way: Way | undefined
  /** Where the other ways are no page of their own; else they are links. */
  onWay?: (way: Way) => void
  /** Begins the session. */
  enter(accessToken: string): Promise<void>
  /** Around each step. Its title and description are those of the first step where it is given none. */
  Frame: ComponentType<{ title?: string; description?: string; children: ReactNode }>
}

/** Signing in, step by step. */
export function SignIn({ mode, way, onWay, enter, Frame }: SignInProps) {
  const { step, meet, verify, confirm, enterStored, startOver } = useSignIn(enter)
  const back = (
    <Button variant="ghost" onClick={startOver}>
      Start over
    </Button>
  )
  if (step.at === 'factor')
    return (
      <Frame title="Confirm that it is you" description="This account has a second factor.">
        <FactorCodeForm action="Sign in" onCode={(code) => verify(step.token, code)}>
          {back}
        </FactorCodeForm>
      </Frame>
    )
  if (step.at === 'enrol')
    return (
      <Frame title="Set up a second factor" description="Your role needs one to sign in.">
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
      <Frame title="The second factor is on">
        <p className="text-muted text-sm">You are in as soon as the recovery codes are stored.</p>
        {step.at === 'codes' ? (
          <RecoveryCodesDialog
            codes={step.recoveryCodes}
            onClose={() => void enterStored(step.accessToken)}
          />
        ) : null}
      </Frame>
    )
  return (
    <Frame {...(wayOf(mode, way) === 'request' ? { title: 'Request access' } : {})}>
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
