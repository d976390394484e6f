import type { CallReply } from '@roost/contracts/client'
import type { getAuthMode } from '@roost/contracts/identity/sessions'
import { Link } from '@tanstack/react-router'
import { Banner } from '../../ui/banner.tsx'
import { Button, buttonClass } from '../../ui/button.tsx'
import { EmailSignIn } from './email-sign-in.tsx'
import { type FirstProofProps, PasswordSignIn } from './password-sign-in.tsx'
import { RequestAccess } from './request-access.tsx'
import { offeredWays, type Way, wayOf } from './ways.ts'

export type FirstStepProps = FirstProofProps & {
  mode: CallReply<typeof getAuthMode>
  way: Way | undefined
  notice: string | null
  /** Where the other ways are no page of their own; else they are links. */
  onWay?: ((way: Way) => void) | undefined
}

/** The first proof, in the way that is asked for and offered, and the other ways below it. */
export function FirstStep({ mode, way, notice, onWay, ...proof }: FirstStepProps) {
  const chosen = wayOf(mode, way)
  const others = offeredWays(mode).filter((other) => other !== chosen)
  return (
    <div className="flex flex-col gap-4">
      {notice ? <Banner tone="warning">{notice}</Banner> : null}
      {chosen === 'password' ? <PasswordSignIn {...proof} /> : null}
      {chosen === 'email' ? <EmailSignIn {...proof} /> : null}
      {chosen === 'request' ? <RequestAccess /> : null}
      {others.length === 0 ? null : (
        <nav aria-label="Other ways" className="flex flex-col gap-2 border-t pt-4">
          {others.map((other) => {
            const variant = other === 'request' ? 'ghost' : 'secondary'
            return onWay ? (
              <Button key={other} variant={variant} onClick={() => onWay(other)}>
                {words[other]}
              </Button>
            ) : (
              <Link
                key={other}
                to="/login"
                search={(before) => ({ ...before, way: other })}
                replace
                className={buttonClass({ variant })}
              >
                {words[other]}
              </Link>
            )
          })}
        </nav>
      )}
      {mode.email_auth_enabled ? null : (
        <p className="text-center text-faint text-xs">
          Signing in with an e-mail code is off on this installation: it has no mail server.
        </p>
      )}
    </div>
  )
}

const words = {
  password: 'Sign in with a password',
  email: 'Sign in with an e-mail code',
  request: 'Request access',
} as const
