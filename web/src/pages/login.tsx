import { useSuspenseQuery } from '@tanstack/react-query'
import { createLazyRoute, useNavigate } from '@tanstack/react-router'
import { Enrolment } from '../features/sessions/enrolment.tsx'
import { FactorCodeForm } from '../features/sessions/factor-code-form.tsx'
import { FirstStep } from '../features/sessions/first-step.tsx'
import { authModeQuery } from '../features/sessions/queries.ts'
import { RecoveryCodesDialog } from '../features/sessions/recovery-codes-dialog.tsx'
import { useSignIn } from '../features/sessions/use-sign-in.ts'
import { wayOf } from '../features/sessions/ways.ts'
import { safeNext } from '../lib/next-path.ts'
import { useApp } from '../shell/app-context.ts'
import { Doorway } from '../shell/doorway.tsx'
import { Button } from '../ui/button.tsx'

export const route = createLazyRoute('/login')({ component: Login })

function Login() {
  const { api, session, queries } = useApp()
  const navigate = useNavigate()
  const { next, way } = route.useSearch()
  const { data: mode } = useSuspenseQuery(authModeQuery(api))

  async function enter(accessToken: string): Promise<void> {
    queries.clear()
    session.begin(accessToken)
    await navigate({ href: safeNext(next), replace: true })
  }
  const { step, meet, verify, confirm, enterStored, startOver } = useSignIn(enter)
  const back = (
    <Button variant="ghost" onClick={startOver}>
      Start over
    </Button>
  )

  if (step.at === 'factor')
    return (
      <Doorway title="Confirm that it is you" description="This account has a second factor.">
        <FactorCodeForm action="Sign in" onCode={(code) => verify(step.token, code)}>
          {back}
        </FactorCodeForm>
      </Doorway>
    )
  if (step.at === 'enrol')
    return (
      <Doorway title="Set up a second factor" description="Your role needs one to sign in.">
        <Enrolment
          offer={step.offer}
          action="Turn on and sign in"
          onCode={(code) => confirm(step.token, code)}
        >
          {back}
        </Enrolment>
      </Doorway>
    )
  if (step.at === 'codes' || step.at === 'entering')
    return (
      <Doorway title="The second factor is on">
        <p className="text-muted text-sm">You are in as soon as the recovery codes are stored.</p>
        {step.at === 'codes' ? (
          <RecoveryCodesDialog
            codes={step.recoveryCodes}
            onClose={() => void enterStored(step.accessToken)}
          />
        ) : null}
      </Doorway>
    )
  return (
    <Doorway
      title={wayOf(mode, way) === 'request' ? 'Request access' : 'Sign in to Roost'}
      {...(next === undefined || safeNext(next) === '/'
        ? {}
        : { description: 'You come back to the page that you were on the way to.' })}
    >
      <FirstStep mode={mode} way={way} notice={step.notice} onToken={enter} onChallenge={meet} />
    </Doorway>
  )
}
