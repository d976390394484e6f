import { z } from 'zod'
import { endpoint } from '../kit/endpoint.ts'
import { SecondFactorChallenge } from './second-factor.ts'
import { EmailAddress, User } from './users.ts'

const tag = 'Signing in'
const smallBody = 16 * 1024

/** Sign-in codes sent by e-mail. */
export const emailCode = { digits: 6, validSeconds: 600 } as const

export const RequestEmailCode = z.object({ email: EmailAddress })
/** Spaces and hyphens in a code are ignored. Any other text is a wrong code, not a validation error. */
export const VerifyEmailCode = z.object({ email: EmailAddress, code: z.string().min(1).max(64) })

export const requestEmailCode = endpoint({
  id: 'requestEmailCode',
  method: 'POST',
  path: '/api/auth/email/request',
  summary: 'Request a sign-in code by e-mail',
  description:
    'The reply is the same for an allowed address, an unknown one, and one above its rate limit. A code has 6 digits and is valid for 10 minutes. A newer code of the same client replaces it; other clients can use only the newest one.',
  tag,
  access: { who: 'none' },
  headers: ['Cookie'],
  body: RequestEmailCode,
  bodyLimit: smallBody,
  returns: z.object({ success: z.literal(true), message: z.string() }),
  fails: ['email_login_disabled', 'rate_limited'],
  audit: { type: 'authentication', action: 'request_email_code' },
})

export const verifyEmailCode = endpoint({
  id: 'verifyEmailCode',
  method: 'POST',
  path: '/api/auth/email/verify',
  summary: 'Sign in with a code from an e-mail',
  description:
    'The first sign-in creates the account. If a second factor is required, the reply has a `challenge_token` instead of an `access_token`. A wrong, used or expired code gets the same reply as an address that may not sign in.',
  tag,
  access: { who: 'none' },
  headers: ['Cookie'],
  replyHeaders: ['Set-Cookie'],
  body: VerifyEmailCode,
  bodyLimit: smallBody,
  returns: z.union([
    z.object({ access_token: z.string(), token_type: z.literal('bearer'), user: User }),
    SecondFactorChallenge,
  ]),
  fails: ['invalid_code', 'email_login_disabled', 'account_suspended', 'rate_limited', 'too_many_attempts'],
  audit: { type: 'authentication', action: 'sign_in' },
})

export const requestAccess = endpoint({
  id: 'requestAccess',
  method: 'POST',
  path: '/api/access/request',
  summary: 'Add your own address to the allow list',
  description: 'Rejected until an admin enables `public_access_requests_enabled`.',
  tag,
  access: { who: 'none' },
  body: RequestEmailCode,
  bodyLimit: smallBody,
  returns: z.object({ success: z.literal(true), message: z.string(), already_registered: z.boolean() }),
  fails: ['access_requests_disabled', 'rate_limited'],
  audit: { type: 'authorization', action: 'request_access' },
})
