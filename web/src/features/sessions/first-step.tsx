import type { CallReply } from '@roost/contracts/client'
import type { getAuthMode } from '@roost/contracts/identity/sessions'
import { Link } from '@tanstack/react-router'
import { Banner } from '../../ui/banner.tsx'
import { Button, buttonClass } from '../../ui/button.tsx'
import { EmailSignIn } from './email-sign-in.tsx'
import { type FirstProofProps, PasswordSignIn } from './password-sign-in.tsx'
import { RequestAccess } from './request-access.tsx'
import { methodOf, offeredMethods, type SignInMethod } from './sign-in-methods.ts'

export type FirstStepProps = FirstProofProps & {
  mode: CallReply<typeof getAuthMode>
  way: SignInMethod | undefined
  notice: string | null
  /** Called instead of navigating, where the other methods have no page of their own. */
  onWay?: ((way: SignInMethod) => void) | undefined
}

/** The first sign-in step in the chosen method, with links to the others. */
export function FirstStep({ mode, way, notice, onWay, ...proof }: FirstStepProps) {
  const chosen = methodOf(mode, way)
  const others = offeredMethods(mode).filter((other) => other !== chosen)
  return (
    <div className="flex flex-col gap-4">
      {notice ? <Banner tone="warning">{notice}</Banner> : null}
      {chosen === 'password' ? <PasswordSignIn {...proof} /> : null}
      {chosen === 'email' ? <EmailSignIn {...proof} /> : null}
      {chosen === 'request' ? <RequestAccess /> : null}
      {others.length === 0 ? null : (
        <nav aria-label="Other sign-in methods" className="flex flex-col gap-2 border-t pt-4">
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
          Sign-in by e-mail code is not available: this platform has no mail server.
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
